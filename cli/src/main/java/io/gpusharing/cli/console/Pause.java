package io.gpusharing.cli.console;

import java.time.Duration;

/** What lies between two answers. */
@FunctionalInterface
public interface Pause {

    /** Returns when it is over; false if nobody waits for another answer. */
    boolean isOver(Duration length);
}

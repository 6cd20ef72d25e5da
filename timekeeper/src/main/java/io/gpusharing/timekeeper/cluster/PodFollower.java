package io.gpusharing.timekeeper.cluster;

import java.util.Optional;

/** A feed's reader that remembers how far it came, so that it can go on there after a restart. */
public interface PodFollower extends PodFeed {

    /** How far it came; empty if it begins. */
    Optional<String> position();
}

package io.gpusharing.sidecar.report;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What became of one report. */
public sealed interface Answer {

    /** How much the timekeeper wants from this meter. */
    enum Mode {
        /** A report each period. */
        FULL,
        /** A node agent covers this pod: a sign of life is enough. */
        HEARTBEAT
    }

    /**
     * Taken, or known already.
     *
     * @param ca certificates to trust from now on, or null for no change
     */
    record Taken(Mode mode, @Nullable String ca) implements Answer {}

    /**
     * The timekeeper understood and does not want it: what a repetition will not change.
     *
     * @param status the HTTP status
     * @param runIsOver whether no later report of this run will be taken either, so that only a new
     *     run helps
     */
    record Refused(int status, String reason, boolean runIsOver) implements Answer {}

    /**
     * Not delivered, or not taken for now.
     *
     * @param retryAfter how long the timekeeper asks to wait, or null
     */
    record Unavailable(String reason, @Nullable Duration retryAfter) implements Answer {}
}

package io.gpusharing.timekeeper.usage.intake;

/** What became of a report. */
sealed interface Outcome {

    /** Its content is in the database. */
    record Accepted(boolean heartbeatIsEnough) implements Outcome {}

    /** It was there already. */
    record Duplicate(boolean heartbeatIsEnough) implements Outcome {}

    /** Nothing of it was taken, and sending it again will not help. */
    record Refused(Refusal refusal, String detail) implements Outcome {}

    /** Nothing of it was taken; sending it again later will help. */
    record Unavailable(String detail) implements Outcome {}

    /** Why a report is refused; the name is the label of the metric. */
    enum Refusal {
        /** It is not what a report looks like. */
        MALFORMED(400),
        /** The token's pod is not there, or has ended. */
        POD_NOT_ALIVE(403),
        /** It is about a pod that is not the token's. */
        FOREIGN_POD(403),
        /** Only node agents may report as agents, and they as nothing else. */
        WRONG_METER(403),
        /** An agent's token does not name its node. */
        NO_NODE(403),
        /** More than physics allows. */
        IMPOSSIBLE_AMOUNT(403),
        /** A counter is lower than in an earlier report of the run. */
        COUNTERS_FELL(409),
        /** A sidecar reports more devices than its pod can hold. */
        TOO_MANY_DEVICES(403),
        /** It did not come in the time that it may take. */
        TOO_SLOW(408),
        /** Meters of the pod have begun too often of late. */
        TOO_MANY_RUNS(429),
        /** The same run and sequence came with another content. */
        CONFLICT(409),
        /** More bytes than any report needs. */
        TOO_LARGE(413);

        private final int status;

        Refusal(int status) {
            this.status = status;
        }

        int status() {
            return status;
        }

        /**
         * Whether the run's next reports would be refused as well, so that only a new run helps.
         */
        boolean endsTheRun() {
            return this == IMPOSSIBLE_AMOUNT || this == COUNTERS_FELL || this == CONFLICT;
        }
    }
}

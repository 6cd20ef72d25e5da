package io.gpusharing.timekeeper.ledger;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One line of a statement: what a pod used in one hour of the clock, or a correction of it. Amounts
 * are micro-GPU-seconds.
 *
 * @param from begin of its first second
 * @param to end of its last second
 * @param podName null if the pod is no longer known by name, or is not shown to who asks
 * @param used negative where a correction gave back
 * @param reason of a correction; null for what was simply used
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StatementLine(
        Kind kind,
        Instant hour,
        Instant from,
        Instant to,
        String namespace,
        UUID pod,
        @Nullable String podName,
        long used,
        @Nullable String reason,
        @Nullable String author,
        @Nullable UUID correction) {

    /** What a line is. */
    public enum Kind {
        /** Posted: it can only be corrected. */
        Charge,
        /** A later truth about a span. */
        Correction,
        /** Of a pod that runs on; not posted yet. */
        Running
    }

    /** The same with another name of the pod, or none. */
    public StatementLine withName(@Nullable String name) {
        return new StatementLine(
                kind, hour, from, to, namespace, pod, name, used, reason, author, correction);
    }

    /** Its place in the statement; lines come in the order of their places. */
    public Place place() {
        return new Place(hour, pod, kind, correction == null ? new UUID(0, 0) : correction);
    }

    /** {@link #used} in minutes, for people. */
    public String usedMinutes() {
        return new GpuTime(used).minutes();
    }

    /** Where a line stands. */
    public record Place(Instant hour, UUID pod, Kind kind, UUID correction) {

        /** Before every line. */
        public static final Place START =
                new Place(Instant.EPOCH, new UUID(0, 0), Kind.Charge, new UUID(0, 0));
    }
}

package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One line of a statement: what a pod used in one hour of the clock, or a correction of it. Amounts
 * are micro-GPU-seconds.
 *
 * @param from begin of its first second
 * @param to end of its last second
 * @param pod null if it is not shown to who asks
 * @param podName null if the pod is no longer known by name, or is not shown to who asks
 * @param place its place in the statement; lines come in the order of their places
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
        @Nullable UUID pod,
        @Nullable String podName,
        long used,
        @Nullable String reason,
        @Nullable String author,
        @Nullable UUID correction,
        @JsonIgnore Place place) {

    /** What a line is. */
    public enum Kind {
        /** Posted: it can only be corrected. */
        Charge,
        /** A later truth about a span. */
        Correction,
        /** Of a pod that runs on; not posted yet. */
        Running
    }

    /** The same with the pod's name. */
    StatementLine withName(@Nullable String name) {
        return of(pod, name);
    }

    /** The same for who may not see which pod it is. */
    public StatementLine withoutPod() {
        return of(null, null);
    }

    private StatementLine of(@Nullable UUID uid, @Nullable String name) {
        return new StatementLine(
                kind,
                hour,
                from,
                to,
                namespace,
                uid,
                name,
                used,
                reason,
                author,
                correction,
                place);
    }

    /**
     * Where a line stands.
     *
     * @param pod a digest of its uid: addresses of pages are made of places, and show nothing of
     *     pods
     */
    public record Place(Instant hour, String pod, Kind kind, UUID correction) {

        /** Before every line. */
        public static final Place START = new Place(Instant.EPOCH, "", Kind.Charge, new UUID(0, 0));
    }
}

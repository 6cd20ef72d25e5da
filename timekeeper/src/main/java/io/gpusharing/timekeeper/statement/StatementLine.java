package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * One line of a statement: what a pod used in one hour of the clock, or a correction of it. Amounts
 * are micro-GPU-seconds.
 *
 * @param from begin of its first second
 * @param to end of its last second
 * @param pod null if it is not shown to who asks
 * @param podName null if the pod is no longer known by name, or is not shown to who asks
 * @param ownerKind of what the pod belonged to; null if it belonged to nothing, or is no longer
 *     known
 * @param ownerName null also if the pod is not shown to who asks
 * @param model of the GPU; null if nobody has named it
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
        @Nullable String ownerKind,
        @Nullable String ownerName,
        @Nullable String model,
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

    /**
     * What is known of a pod beside its uid.
     *
     * @param ownerKind null if it belongs to nothing, as is {@code ownerName}
     * @param model of its GPU; null if nobody has named it
     */
    record Pod(
            @Nullable String name,
            @Nullable String ownerKind,
            @Nullable String ownerName,
            @Nullable String model) {

        /** One of which nothing is known any more. */
        static final Pod UNKNOWN = new Pod(null, null, null, null);
    }

    /** The same with what is known of the pod. */
    StatementLine of(Pod known) {
        return of(pod, known);
    }

    /** The same for who may not see which pod it is, and whose. */
    public StatementLine withoutPod() {
        return of(null, new Pod(null, ownerKind, null, model));
    }

    private StatementLine of(@Nullable UUID uid, Pod known) {
        return new StatementLine(
                kind,
                hour,
                from,
                to,
                namespace,
                uid,
                known.name(),
                known.ownerKind(),
                known.ownerName(),
                known.model(),
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

        /** As it stands in an address. */
        String cursor() {
            return "%d_%s_%s_%s".formatted(hour.getEpochSecond(), pod, kind, correction);
        }

        /**
         * Reads a place.
         *
         * @throws ResponseStatusException 400 if it is none of ours
         */
        static Place of(String text) {
            String[] parts = text.split("_", -1);
            try {
                if (parts.length == 4 && parts[1].matches("[0-9a-f]{32}")) {
                    // 32 bits are enough until 2106, and keep out what no database knows.
                    int hour = Integer.parseUnsignedInt(parts[0]);
                    return new Place(
                            Instant.ofEpochSecond(Integer.toUnsignedLong(hour)),
                            parts[1],
                            Kind.valueOf(parts[2]),
                            UUID.fromString(parts[3]));
                }
            } catch (IllegalArgumentException e) {
                throw unreadable(text);
            }
            throw unreadable(text);
        }

        /** 400: a place that we never handed out. */
        static ResponseStatusException unreadable(String text) {
            return new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "after is taken from the header Link of the page before, not " + text);
        }
    }
}

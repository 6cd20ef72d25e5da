package io.gpusharing.timekeeper.statement;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** [from, to) in whole seconds, as all charges are; nothing is known of the future. */
public record Span(Instant from, Instant to) {

    /**
     * The span that was asked for.
     *
     * @param from null for {@code start}
     * @param to null for now; a later one is taken as now
     * @throws ResponseStatusException 400 for parts of a second, years before 1970, or nothing in
     *     between
     */
    public static Span of(
            @Nullable Instant from, @Nullable Instant to, Instant start, Instant now) {
        Instant present = now.truncatedTo(ChronoUnit.SECONDS);
        Instant begin = from == null ? start : whole("from", from);
        Instant end = to == null || to.isAfter(present) ? present : whole("to", to);
        if (!begin.isBefore(end)) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "from must be before to, and in the past: from %s, to %s"
                            .formatted(begin, end));
        }
        return new Span(begin, end);
    }

    /**
     * An instant that was asked for.
     *
     * @param at null for now
     * @throws ResponseStatusException 400 for parts of a second, years before 1970, or one to come
     */
    static Instant past(@Nullable Instant at, Instant now) {
        Instant present = now.truncatedTo(ChronoUnit.SECONDS);
        if (at == null) {
            return present;
        }
        if (at.isAfter(present)) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "at is in the future: " + at + "; it is " + present);
        }
        return whole("at", at);
    }

    private static Instant whole(String name, Instant instant) {
        if (!instant.equals(instant.truncatedTo(ChronoUnit.SECONDS))) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, name + " must be a whole second: " + instant);
        }
        if (instant.isBefore(Instant.EPOCH)) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, name + " is before 1970: " + instant);
        }
        return instant;
    }
}

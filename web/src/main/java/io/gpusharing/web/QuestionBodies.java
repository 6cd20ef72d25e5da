package io.gpusharing.web;

import io.gpusharing.web.RequestBodyLimit.Body;
import io.gpusharing.web.RequestBodyLimit.Place;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Function;
import org.springframework.http.HttpStatus;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ResponseStatusException;

/**
 * Reads the bodies of questions: of a limited size, within ten seconds, of some at once. Others
 * wait for the same threads, and so whoever sends slowly has few of them.
 */
public final class QuestionBodies {

    private static final Duration LONGEST = Duration.ofSeconds(10);

    private final String what;
    private final DataSize largest;
    private final RequestBodyLimit bodies;

    /**
     * @param what is read, a noun: {@code question}
     * @param atOnce however short they are: the thread of each is what is scarce
     */
    public QuestionBodies(String what, DataSize largest, int atOnce, Clock clock) {
        this.what = what;
        this.largest = largest;
        this.bodies =
                new RequestBodyLimit(DataSize.ofBytes(atOnce * largest.toBytes()), LONGEST, clock);
    }

    /**
     * Reads one.
     *
     * @param reader makes of it what is needed, while the place is still kept
     * @throws ResponseStatusException with a sentence for whoever asks
     */
    public <T> T read(HttpServletRequest request, Function<String, T> reader) throws IOException {
        if (request.getContentLengthLong() > largest.toBytes()) {
            throw tooLarge();
        }
        try (Place place = bodies.enter(Math.toIntExact(largest.toBytes()))) {
            if (place == null) {
                throw new ResponseStatusException(
                        HttpStatus.SERVICE_UNAVAILABLE,
                        "Too many %ss are being read; ask again in a few seconds".formatted(what));
            }
            return switch (place.read(request.getInputStream())) {
                case Body.TooLarge _ -> throw tooLarge();
                case Body.TooSlow _ ->
                        throw new ResponseStatusException(
                                HttpStatus.REQUEST_TIMEOUT,
                                "A %s has to come within %d s"
                                        .formatted(what, LONGEST.toSeconds()));
                case Body.Read(byte[] bytes) ->
                        reader.apply(new String(bytes, StandardCharsets.UTF_8));
            };
        }
    }

    private ResponseStatusException tooLarge() {
        return new ResponseStatusException(
                HttpStatus.CONTENT_TOO_LARGE,
                "A %s has %d KiB at most".formatted(what, largest.toKilobytes()));
    }
}

package io.gpusharing.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

/**
 * Room for the bodies of reports. Who sends one asks for room first, for as much as it says it has,
 * so that however many are sent at once, and however slowly, memory is bounded.
 */
public final class RequestBodyLimit {

    private static final int CHUNK = 8 * 1024;

    private final Semaphore room;
    private final Duration longest;
    private final Clock clock;

    /**
     * @param most of all bodies together
     * @param longest how long one may take to come
     */
    public RequestBodyLimit(DataSize most, Duration longest, Clock clock) {
        this.room = new Semaphore(Math.toIntExact(most.toBytes()));
        this.longest = longest;
        this.clock = clock;
    }

    /** What became of a body. */
    public sealed interface Body {
        /** Nobody compares bodies: they are read and thrown away. */
        @SuppressWarnings("ArrayRecordComponent")
        record Read(byte[] bytes) implements Body {}

        record TooLarge() implements Body {}

        record TooSlow() implements Body {}
    }

    /** Some room, until it is closed. */
    public final class Place implements AutoCloseable {

        private final int size;

        private Place(int size) {
            this.size = size;
        }

        /**
         * Reads a body that takes no more than this place.
         *
         * @throws IOException if the connection breaks
         */
        public Body read(InputStream in) throws IOException {
            Instant end = clock.instant().plus(longest);
            var body = new ByteArrayOutputStream(Math.min(size, CHUNK));
            byte[] chunk = new byte[CHUNK];
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                if (body.size() + read > size) {
                    return new Body.TooLarge();
                }
                if (clock.instant().isAfter(end)) {
                    return new Body.TooSlow();
                }
                body.write(chunk, 0, read);
            }
            return new Body.Read(body.toByteArray());
        }

        @Override
        public void close() {
            room.release(size);
        }
    }

    /** Room for a body of a size; null if there is none now. */
    public @Nullable Place enter(int size) {
        return room.tryAcquire(size) ? new Place(size) : null;
    }

    /** Bytes that are free. */
    int free() {
        return room.availablePermits();
    }
}

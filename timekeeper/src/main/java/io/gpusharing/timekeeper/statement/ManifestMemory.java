package io.gpusharing.timekeeper.statement;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ResponseStatusException;

/**
 * The part of the heap that is for manifests. What is made of one takes its memory first, and waits
 * for those before it. The most that a manifest may have follows from that part.
 */
final class ManifestMemory {

    /** A parser of YAML makes up to so many bytes of each byte. */
    private static final int WEIGHT = 200;

    private static final DataSize LARGEST = DataSize.ofKilobytes(128);

    /** Bodies that are read at once; each is there in pieces, whole, and as text. */
    static final int READ_AT_ONCE = 4;

    private static final int COPIES = 5;

    private final int largest;
    private final Semaphore work;

    /**
     * @param bytes of all that is read and made of it
     */
    ManifestMemory(int bytes) {
        int bodies = READ_AT_ONCE * COPIES;
        this.largest = (int) Math.min(LARGEST.toBytes(), bytes / (WEIGHT + bodies));
        this.work = new Semaphore(bytes - bodies * largest, true);
    }

    /** The most bytes that a manifest has. */
    DataSize largest() {
        return DataSize.ofBytes(largest);
    }

    /**
     * Makes something of a text.
     *
     * @throws ResponseStatusException if it is larger than the largest, as one may be once its
     *     numbers are written out
     */
    <T> T during(String text, Supplier<T> making) {
        if (text.length() > largest) {
            throw new ResponseStatusException(
                    HttpStatus.CONTENT_TOO_LARGE,
                    "A manifest has %d KiB at most".formatted(largest().toKilobytes()));
        }
        int bytes = text.length() * WEIGHT;
        work.acquireUninterruptibly(bytes);
        try {
            return making.get();
        } finally {
            work.release(bytes);
        }
    }
}

package io.gpusharing.webhook.admission;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads bodies into a bounded amount of memory, each by its deadline.
 *
 * <p>Anybody who reaches the port may open connections. So memory is taken as bytes arrive and not
 * as they are announced, and a body that trickles in is given up when its time is over: a client
 * that says little holds little, and not for long.
 */
final class Intake {

    /** Most bodies are shorter; a longer one takes more memory when it needs more. */
    private static final int STEP = 64 * 1024;

    private final Semaphore memory;
    private final int maxBody;
    private final int total;

    /**
     * @param maxBody longest body, in bytes
     * @param total bytes of all bodies together
     */
    Intake(int maxBody, int total) {
        this.maxBody = maxBody;
        this.total = total;
        this.memory = new Semaphore(total);
    }

    /** What became of reading a body. */
    sealed interface Read {

        /** The whole body, or as much as came before the client hung up. */
        // Handed on once and compared by nobody.
        @SuppressWarnings("ArrayRecordComponent")
        record Body(byte[] bytes, int held) implements Read {}

        /** It is longer than a body may be. */
        record TooLong() implements Read {}

        /** Its time was over before all of it was there, or before there was memory for it. */
        record TooLate() implements Read {}
    }

    /**
     * Reads a body; what a {@link Read.Body} holds is given back by {@link #release}.
     *
     * @param announced its length in bytes; negative if the client did not say
     * @param weight bytes of memory that a byte of this body will cost
     * @param deadline by {@link System#nanoTime}
     */
    Read read(InputStream in, int announced, int weight, long deadline) throws IOException {
        if (announced > maxBody) {
            return new Read.TooLong();
        }
        int most = announced < 0 ? maxBody + 1 : announced;
        int held = 0;
        byte[] body = new byte[0];
        int length = 0;
        boolean whole = false;
        try {
            while (length < most) {
                if (length == body.length) {
                    int longer = Math.min(most, Math.max(STEP, 2 * length));
                    int needed = (int) Math.min(total, (long) longer * weight);
                    if (!acquired(needed - held, deadline)) {
                        return new Read.TooLate();
                    }
                    held = needed;
                    body = Arrays.copyOf(body, longer);
                }
                int count = in.read(body, length, body.length - length);
                if (count < 0) {
                    break;
                }
                length += count;
                if (System.nanoTime() > deadline) {
                    return new Read.TooLate();
                }
            }
            if (length > maxBody) {
                return new Read.TooLong();
            }
            whole = true;
            return new Read.Body(length == body.length ? body : Arrays.copyOf(body, length), held);
        } catch (SocketTimeoutException e) {
            return new Read.TooLate();
        } finally {
            if (!whole) {
                memory.release(held);
            }
        }
    }

    /** Gives back what a body held. */
    void release(Read.Body body) {
        memory.release(body.held());
    }

    private boolean acquired(int bytes, long deadline) {
        try {
            return memory.tryAcquire(bytes, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

package io.gpusharing.deviceplugin.cluster;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongSupplier;

/** An answer of the API server that knows when something was last heard of it. */
final class TimedStream extends FilterInputStream {

    private final Duration silence;
    private final LongSupplier nanoTime;
    private volatile long last;

    /**
     * @param silence how long nothing may come
     */
    TimedStream(InputStream answer, Duration silence, LongSupplier nanoTime) {
        super(answer);
        this.silence = silence;
        this.nanoTime = nanoTime;
        this.last = nanoTime.getAsLong();
    }

    boolean isSilent() {
        return nanoTime.getAsLong() - last > silence.toNanos();
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        int read = super.read(bytes, from, length);
        last = nanoTime.getAsLong();
        return read;
    }

    /** From another thread: whoever reads is told that it ends here. */
    void end() {
        try {
            in.close();
        } catch (IOException e) {
            // It ends all the same.
        }
    }
}

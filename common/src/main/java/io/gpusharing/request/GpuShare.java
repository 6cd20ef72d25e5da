package io.gpusharing.request;

/**
 * An amount of GPU, in micro-GPUs: 1 000 000 is one whole GPU.
 *
 * @param compute the part of the processors, never negative
 * @param memory the part of the device memory, never negative; whole GPUs hold all of it
 */
public record GpuShare(long compute, long memory) {

    /** Micro-GPUs of one whole GPU. */
    public static final long WHOLE = 1_000_000;

    /** Nothing. */
    public static final GpuShare NONE = new GpuShare(0, 0);

    public GpuShare {
        if (compute < 0 || memory < 0) {
            throw new IllegalArgumentException(
                    "A share is never negative: " + compute + ", " + memory);
        }
    }

    /** {@code count} whole GPUs. */
    public static GpuShare whole(long count) {
        long micros = Math.multiplyExact(count, WHOLE);
        return new GpuShare(micros, micros);
    }

    /** {@code units} of {@code of} in micro-GPUs, rounded down but never to nothing. */
    static long part(long units, long of) {
        return units == 0 ? 0 : Math.max(1, units * WHOLE / of);
    }

    /** Both parts added. */
    public GpuShare plus(GpuShare other) {
        return new GpuShare(
                Math.addExact(compute, other.compute), Math.addExact(memory, other.memory));
    }

    /** The larger of each part. */
    public GpuShare max(GpuShare other) {
        return new GpuShare(Math.max(compute, other.compute), Math.max(memory, other.memory));
    }
}

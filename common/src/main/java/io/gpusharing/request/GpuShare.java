package io.gpusharing.request;

import java.math.BigDecimal;

/**
 * An amount of GPU, exact; it is shown and stored in micro-GPUs: 1 000 000 is one whole GPU.
 *
 * @param computePart the part of the processors
 * @param memoryPart the part of the device memory; whole GPUs hold all of it
 */
public record GpuShare(Part computePart, Part memoryPart) {

    /** Micro-GPUs of one whole GPU. */
    public static final long WHOLE = 1_000_000;

    /** Nothing. */
    public static final GpuShare NONE = new GpuShare(Part.NONE, Part.NONE);

    /** Whole micro-GPUs of both parts. */
    public GpuShare(long compute, long memory) {
        this(Part.micros(compute), Part.micros(memory));
    }

    /** Micro-GPUs in whole GPUs, exact and without zeros at the end: {@code 0.5}. */
    public static String inGpus(long micros) {
        return BigDecimal.valueOf(micros, 6).stripTrailingZeros().toPlainString();
    }

    /** {@code count} whole GPUs. */
    public static GpuShare whole(long count) {
        return new GpuShare(new Part(count, 1), new Part(count, 1));
    }

    /** Micro-GPUs of the processors, rounded down but never to nothing. */
    public long compute() {
        return computePart.micros();
    }

    /** Micro-GPUs of the device memory, rounded down but never to nothing. */
    public long memory() {
        return memoryPart.micros();
    }

    /**
     * Micro-GPUs with which being busy is compared: of the processors, or of the memory where that
     * alone is held.
     */
    public long busyPart() {
        return compute() > 0 ? compute() : memory();
    }

    /** The same in whole micro-GPUs. */
    public GpuShare rounded() {
        return new GpuShare(compute(), memory());
    }

    /** The same, but no part of something is less than a micro-GPU. */
    public GpuShare atLeastAMillionth() {
        return new GpuShare(computePart.atLeastAMillionth(), memoryPart.atLeastAMillionth());
    }

    /** Whether it is more than one GPU. */
    public boolean isMoreThanOne() {
        return compute() > WHOLE;
    }

    /** Whether both parts are whole GPUs. */
    public boolean isWhole() {
        return computePart.denominator() == 1 && memoryPart.denominator() == 1;
    }

    /** Both parts added. */
    public GpuShare plus(GpuShare other) {
        return new GpuShare(computePart.plus(other.computePart), memoryPart.plus(other.memoryPart));
    }

    /** The larger of each part. */
    public GpuShare max(GpuShare other) {
        return new GpuShare(computePart.max(other.computePart), memoryPart.max(other.memoryPart));
    }
}

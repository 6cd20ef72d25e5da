package io.gpusharing.request.grammar;

import io.gpusharing.request.GpuShare;
import io.gpusharing.request.Part;

/**
 * A part of a GPU as hardware divides it: some of its compute slices and some of its memory slices.
 *
 * @param compute compute slices of the part
 * @param computeOf compute slices of the whole GPU
 * @param memory memory slices of the part
 * @param memoryOf memory slices of the whole GPU
 */
record MigSlice(int compute, int computeOf, int memory, int memoryOf) {

    /** A GPU that is not divided. */
    static final MigSlice WHOLE_GPU = new MigSlice(1, 1, 1, 1);

    /** The worth of {@code units} such parts, each shared by {@code replicas}. */
    GpuShare share(long units, long replicas) {
        return new GpuShare(
                new Part(units * compute, computeOf * replicas),
                new Part(units * memory, memoryOf * replicas));
    }

    /** The larger of each part. */
    MigSlice max(MigSlice other) {
        boolean moreCompute = other.compute * computeOf > compute * other.computeOf;
        boolean moreMemory = other.memory * memoryOf > memory * other.memoryOf;
        return new MigSlice(
                moreCompute ? other.compute : compute,
                moreCompute ? other.computeOf : computeOf,
                moreMemory ? other.memory : memory,
                moreMemory ? other.memoryOf : memoryOf);
    }
}

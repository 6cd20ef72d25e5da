package io.gpusharing.deviceplugin.mps;

import java.util.BitSet;
import java.util.OptionalInt;

/**
 * Which part of a GPU's multiprocessors a client may be told to use.
 *
 * <p>On compute capability 9.0 half of all percentages give wrong products of matrices without an
 * error. Which ones was measured on an H100 and an H200, driver 580.159, cuBLAS of CUDA 13.0, FP16
 * and BF16, at each of the 100 (benchmarks/README.md, On a GPU; results/gpu-mps-*.json).
 */
final class ThreadPercentage {

    private static final int ALL = 100;

    /** The most of a share that may be lost by rounding: a tenth. */
    private static final int PART_LOST = 10;

    private static final BitSet WRONG_ON_9_0 = new BitSet(ALL + 1);

    static {
        for (int percent : new int[] {16, 19, 22, 28, 31}) {
            WRONG_ON_9_0.set(percent);
        }
        WRONG_ON_9_0.set(34, 37);
        WRONG_ON_9_0.set(38, 47);
        WRONG_ON_9_0.set(55, 90);
    }

    private ThreadPercentage() {}

    /**
     * The percentage for a share, or the next lower one that is right; empty where that takes more
     * than a tenth of the share: then none is set, and nothing limits the processors.
     *
     * @param share hundredths of the GPU's processors, 1 to 99
     * @param computeCapability of the GPU; empty if it is not known
     */
    static OptionalInt of(long share, String computeCapability) {
        int percent = (int) share;
        // Of a GPU that nobody knows the worst is assumed.
        if (computeCapability.isEmpty() || computeCapability.equals("9.0")) {
            percent = WRONG_ON_9_0.previousClearBit(percent);
        }
        return (share - percent) * PART_LOST <= share
                ? OptionalInt.of(percent)
                : OptionalInt.empty();
    }
}

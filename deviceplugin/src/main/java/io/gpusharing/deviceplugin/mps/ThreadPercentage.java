package io.gpusharing.deviceplugin.mps;

import java.util.BitSet;
import java.util.OptionalInt;

/**
 * Which part of a GPU's multiprocessors a client may be told to use.
 *
 * <p>On compute capability 9.0 two thirds of all percentages may give wrong products of matrices
 * without an error. Those that did on an H100 and an H200 with the cuBLAS of CUDA 13.0 were
 * measured (benchmarks/README.md, On a GPU), and all of them are among those that were reported of
 * an H200 with cuBLAS 12.6.4 to 13.8. Containers bring a cuBLAS of their own, so that what is right
 * with another one says little.
 */
final class ThreadPercentage {

    private static final int ALL = 100;

    /** The most of a share that may be lost by rounding: a tenth. */
    private static final int PART_LOST = 10;

    private static final BitSet WRONG_ON_9_0 = new BitSet(ALL + 1);

    static {
        WRONG_ON_9_0.set(14, 23);
        WRONG_ON_9_0.set(28, 47);
        WRONG_ON_9_0.set(52, 90);
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

package io.gpusharing.budget;

import io.gpusharing.request.GpuShare;
import java.math.BigInteger;

/**
 * How a share's compute and memory part become the one rate that is charged.
 *
 * @param formula which part counts
 * @param reference the share that counts as one, in micro-GPUs of each part; {@link #WHOLE_GPU}
 *     unless a quota or fixed amounts say otherwise
 */
public record ShareRule(Formula formula, GpuShare reference) {

    /** One whole GPU counts as one. */
    public static final GpuShare WHOLE_GPU = GpuShare.whole(1);

    /**
     * No pod is charged for more than a hundred thousand GPUs, in micro-GPUs. No node has as many:
     * a request for more is a mistake or a trick, and a year of it would leave a {@code long}.
     */
    public static final long MOST = 100_000 * GpuShare.WHOLE;

    /** Which part counts. */
    public enum Formula {
        Max,
        Mean,
        Compute,
        Memory
    }

    /** What counts as one. */
    public enum Reference {
        WholeGpu,
        /** The namespace's own ResourceQuota. */
        FromQuota,
        /** Amounts written in the budget. */
        Fixed
    }

    public ShareRule {
        if (reference.compute() == 0 || reference.memory() == 0) {
            throw new IllegalArgumentException("A reference share has both parts: " + reference);
        }
    }

    /** What holding the share costs, in micro-GPUs, rounded down once; {@link #MOST} at most. */
    public long rate(GpuShare share) {
        return switch (formula) {
            case Max -> Math.max(compute(share), memory(share));
            case Mean -> mean(share);
            case Compute -> compute(share);
            case Memory -> memory(share);
        };
    }

    private long mean(GpuShare share) {
        BigInteger compute = BigInteger.valueOf(reference.compute());
        BigInteger memory = BigInteger.valueOf(reference.memory());
        return divided(
                memory.multiply(BigInteger.valueOf(share.compute()))
                        .add(compute.multiply(BigInteger.valueOf(share.memory()))),
                compute.multiply(memory).shiftLeft(1));
    }

    private long compute(GpuShare share) {
        return divided(
                BigInteger.valueOf(share.compute()), BigInteger.valueOf(reference.compute()));
    }

    private long memory(GpuShare share) {
        return divided(BigInteger.valueOf(share.memory()), BigInteger.valueOf(reference.memory()));
    }

    /** Exact up to the one division: parts of big nodes would leave a long. */
    private static long divided(BigInteger parts, BigInteger reference) {
        return parts.multiply(BigInteger.valueOf(GpuShare.WHOLE))
                .divide(reference)
                .min(BigInteger.valueOf(MOST))
                .longValueExact();
    }
}

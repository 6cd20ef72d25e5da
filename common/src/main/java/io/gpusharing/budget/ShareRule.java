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

    /** What holding the share costs, in micro-GPUs, rounded down once. */
    public long rate(GpuShare share) {
        return switch (formula) {
            case Max -> Math.max(compute(share), memory(share));
            case Mean -> mean(share);
            case Compute -> compute(share);
            case Memory -> memory(share);
        };
    }

    /** Exact up to the one division: parts of big nodes would leave a long. */
    private long mean(GpuShare share) {
        BigInteger compute = BigInteger.valueOf(reference.compute());
        BigInteger memory = BigInteger.valueOf(reference.memory());
        BigInteger parts =
                memory.multiply(BigInteger.valueOf(share.compute()))
                        .add(compute.multiply(BigInteger.valueOf(share.memory())));
        return parts.multiply(BigInteger.valueOf(GpuShare.WHOLE))
                .divide(compute.multiply(memory).shiftLeft(1))
                .longValueExact();
    }

    private long compute(GpuShare share) {
        return Math.multiplyExact(share.compute(), GpuShare.WHOLE) / reference.compute();
    }

    private long memory(GpuShare share) {
        return Math.multiplyExact(share.memory(), GpuShare.WHOLE) / reference.memory();
    }
}

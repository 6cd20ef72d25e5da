package io.gpusharing.budget;

import io.gpusharing.request.GpuShare;
import io.gpusharing.request.Part;
import java.math.BigInteger;

/**
 * How a share's compute and memory part become the one rate that is charged.
 *
 * @param formula which part counts
 * @param reference the share that counts as one; {@link #WHOLE_GPU} unless a quota or fixed amounts
 *     say otherwise
 */
public record ShareRule(Formula formula, GpuShare reference) {

    /** One whole GPU counts as one. */
    public static final GpuShare WHOLE_GPU = GpuShare.whole(1);

    /**
     * No pod is charged for more than a hundred thousand GPUs, in micro-GPUs. No node has as many:
     * a request for more is a mistake or a trick, and a year of it would leave a {@code long}.
     */
    public static final long MAX_RATE = 100_000 * GpuShare.WHOLE;

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
        if (reference.computePart().numerator() == 0 || reference.memoryPart().numerator() == 0) {
            throw new IllegalArgumentException("A reference share has both parts: " + reference);
        }
    }

    /**
     * What holding the share costs, in micro-GPUs, rounded down once; {@link #MAX_RATE} at most.
     */
    public long rate(GpuShare share) {
        return rate(share, GpuShare.WHOLE);
    }

    /**
     * The same of a GPU model that costs more or less than the reference model; rounded down once,
     * too.
     *
     * @param weight in millionths of the reference model
     */
    public long rate(GpuShare share, long weight) {
        return switch (formula) {
            case Max -> Math.max(compute(share).micros(weight), memory(share).micros(weight));
            case Mean -> compute(share).mean(memory(share)).micros(weight);
            case Compute -> compute(share).micros(weight);
            case Memory -> memory(share).micros(weight);
        };
    }

    private Ratio compute(GpuShare share) {
        return Ratio.of(share.computePart(), reference.computePart());
    }

    private Ratio memory(GpuShare share) {
        return Ratio.of(share.memoryPart(), reference.memoryPart());
    }

    /** An exact ratio of two parts: its terms may leave a {@code long}. */
    private record Ratio(BigInteger over, BigInteger under) {

        static Ratio of(Part part, Part reference) {
            return new Ratio(
                    product(part.numerator(), reference.denominator()),
                    product(part.denominator(), reference.numerator()));
        }

        Ratio mean(Ratio other) {
            return new Ratio(
                    over.multiply(other.under).add(other.over.multiply(under)),
                    under.multiply(other.under).shiftLeft(1));
        }

        /** The weight is in millionths, as the result is. */
        long micros(long weight) {
            BigInteger most = BigInteger.valueOf(MAX_RATE);
            BigInteger whole = BigInteger.valueOf(GpuShare.WHOLE);
            boolean beyond = over.multiply(whole).compareTo(under.multiply(most)) > 0;
            BigInteger weighed = BigInteger.valueOf(weight).multiply(beyond ? most : over);
            return weighed.divide(beyond ? whole : under).min(most).longValueExact();
        }

        private static BigInteger product(long one, long other) {
            return BigInteger.valueOf(one).multiply(BigInteger.valueOf(other));
        }
    }
}

package io.gpusharing.request;

import java.math.BigInteger;

/**
 * An exact amount of GPU as a fraction in lowest terms: 14/97 of a GPU's memory is kept as 14/97
 * until a pod's rate is rounded. Where terms would leave a {@code long} they are whole millionths.
 *
 * @param numerator never negative
 * @param denominator at least 1
 */
public record Part(long numerator, long denominator) implements Comparable<Part> {

    private static final BigInteger WHOLE = BigInteger.valueOf(GpuShare.WHOLE);

    /** Nothing. */
    public static final Part NONE = new Part(0, 1);

    /** A whole GPU. */
    public static final Part ONE = new Part(1, 1);

    public Part {
        if (numerator < 0 || denominator < 1) {
            throw new IllegalArgumentException(
                    "A part of a GPU is never negative: " + numerator + "/" + denominator);
        }
        long common = gcd(numerator, denominator);
        numerator /= common;
        denominator /= common;
    }

    /**
     * What an amount is of a whole: never more than all of it, and all of a whole that is nothing.
     */
    public static Part of(Quantity amount, Quantity whole) {
        if (amount.value().compareTo(whole.value()) >= 0) {
            return ONE;
        }
        int scale = Math.max(amount.value().scale(), whole.value().scale());
        return of(
                amount.value().setScale(scale).unscaledValue(),
                whole.value().setScale(scale).unscaledValue());
    }

    /** A number of micro-GPUs. */
    static Part micros(long micros) {
        return new Part(micros, GpuShare.WHOLE);
    }

    /** Whole micro-GPUs: rounded down, but never to nothing. */
    public long micros() {
        if (numerator == 0) {
            return 0;
        }
        long micros =
                numerator <= Long.MAX_VALUE / GpuShare.WHOLE
                        ? numerator * GpuShare.WHOLE / denominator
                        : BigInteger.valueOf(numerator)
                                .multiply(WHOLE)
                                .divide(BigInteger.valueOf(denominator))
                                .longValueExact();
        return Math.max(1, micros);
    }

    Part atLeastAMillionth() {
        return numerator == 0 ? this : max(micros(1));
    }

    /** The sum of both. */
    Part plus(Part other) {
        if (numerator == 0 || other.numerator == 0) {
            return numerator == 0 ? other : this;
        }
        return of(
                crossed(other).add(other.crossed(this)),
                BigInteger.valueOf(denominator).multiply(BigInteger.valueOf(other.denominator)));
    }

    /** So many of them. */
    public Part times(long count) {
        return of(
                BigInteger.valueOf(numerator).multiply(BigInteger.valueOf(count)),
                BigInteger.valueOf(denominator));
    }

    /** The smaller of both. */
    public Part min(Part other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The larger of both. */
    Part max(Part other) {
        return compareTo(other) >= 0 ? this : other;
    }

    @Override
    public int compareTo(Part other) {
        return denominator == other.denominator
                ? Long.compare(numerator, other.numerator)
                : crossed(other).compareTo(other.crossed(this));
    }

    private BigInteger crossed(Part other) {
        return BigInteger.valueOf(numerator).multiply(BigInteger.valueOf(other.denominator));
    }

    private static Part of(BigInteger numerator, BigInteger denominator) {
        BigInteger common = numerator.gcd(denominator);
        BigInteger over = numerator.divide(common);
        BigInteger under = denominator.divide(common);
        return Math.max(over.bitLength(), under.bitLength()) < Long.SIZE
                ? new Part(over.longValueExact(), under.longValueExact())
                : micros(numerator.multiply(WHOLE).divide(denominator).longValueExact());
    }

    private static long gcd(long one, long other) {
        long rest = one;
        long divisor = other;
        while (rest != 0) {
            long next = divisor % rest;
            divisor = rest;
            rest = next;
        }
        return divisor;
    }
}

package io.gpusharing.budget;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;

/**
 * An amount of GPU time, in micro-GPU-seconds: half a GPU for two seconds is 1 000 000.
 *
 * <p>A {@code long} holds about 292 000 GPU-years. A sum beyond that saturates: so much time is as
 * good as no limit, and nobody's absurd amount may stop anybody's accounts.
 *
 * @param microGpuSeconds may be negative where it is a difference
 */
public record GpuTime(long microGpuSeconds) implements Comparable<GpuTime> {

    /** None. */
    public static final GpuTime ZERO = new GpuTime(0);

    private static final long MICROS = 1_000_000;
    private static final BigInteger MAX = BigInteger.valueOf(Long.MAX_VALUE);
    private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigDecimal PER_MINUTE = BigDecimal.valueOf(60 * MICROS);

    /**
     * Reads GPU-minutes as people write them, for instance {@code 0.25}.
     *
     * @throws IllegalArgumentException if it is no decimal number, or finer than a micro-GPU-second
     */
    public static GpuTime ofMinutes(String minutes) {
        try {
            return new GpuTime(new BigDecimal(minutes).multiply(PER_MINUTE).longValueExact());
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException(
                    "\""
                            + minutes
                            + "\" is no number of GPU-minutes; write for instance 0.25 or 1200",
                    e);
        }
    }

    /**
     * What a steady rate adds up to over [from, to), rounded down to a micro-GPU-second. Between
     * whole seconds, which are all that the API server's timestamps have, nothing is rounded.
     *
     * @param rate micro-GPUs held
     * @throws IllegalArgumentException if {@code to} is before {@code from}
     */
    public static GpuTime accrued(long rate, Instant from, Instant to) {
        if (to.isBefore(from)) {
            throw new IllegalArgumentException(to + " is before " + from);
        }
        Duration held = Duration.between(from, to);
        BigInteger micros =
                BigInteger.valueOf(held.toSeconds())
                        .multiply(BigInteger.valueOf(MICROS))
                        .add(BigInteger.valueOf(held.toNanosPart() / 1_000));
        return saturated(
                BigInteger.valueOf(rate).multiply(micros).divide(BigInteger.valueOf(MICROS)));
    }

    /** An amount of any size, or the end of what a {@code long} holds. */
    public static GpuTime saturated(BigInteger microGpuSeconds) {
        return new GpuTime(microGpuSeconds.min(MAX).max(MIN).longValueExact());
    }

    /** The sum. */
    public GpuTime plus(GpuTime other) {
        long sum = microGpuSeconds + other.microGpuSeconds;
        boolean left = ((microGpuSeconds ^ sum) & (other.microGpuSeconds ^ sum)) < 0;
        return left ? end(microGpuSeconds) : new GpuTime(sum);
    }

    /** The difference, which may be negative. */
    public GpuTime minus(GpuTime other) {
        long difference = microGpuSeconds - other.microGpuSeconds;
        boolean left =
                ((microGpuSeconds ^ other.microGpuSeconds) & (microGpuSeconds ^ difference)) < 0;
        return left ? end(microGpuSeconds) : new GpuTime(difference);
    }

    /** The smaller of both. */
    public GpuTime min(GpuTime other) {
        return microGpuSeconds <= other.microGpuSeconds ? this : other;
    }

    /**
     * Part of this amount, rounded down.
     *
     * @param percent 0 to 100
     */
    public GpuTime percent(int percent) {
        return new GpuTime(
                Math.multiplyExact(microGpuSeconds / 100, (long) percent)
                        + microGpuSeconds % 100 * percent / 100);
    }

    private static GpuTime end(long sign) {
        return new GpuTime(sign < 0 ? Long.MIN_VALUE : Long.MAX_VALUE);
    }

    /** Whether it is more than none. */
    public boolean isPositive() {
        return microGpuSeconds > 0;
    }

    /** GPU-minutes for people, rounded to thousandths; the integer decides. */
    public String minutes() {
        return BigDecimal.valueOf(microGpuSeconds)
                .divide(PER_MINUTE, 3, RoundingMode.HALF_EVEN)
                .toPlainString();
    }

    @Override
    public int compareTo(GpuTime other) {
        return Long.compare(microGpuSeconds, other.microGpuSeconds);
    }
}

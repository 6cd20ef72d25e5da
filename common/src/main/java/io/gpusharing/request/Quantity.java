package io.gpusharing.request;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An amount as Kubernetes reads it: {@code 50}, {@code 0.5}, {@code 1k}, {@code 1e2}, {@code 4Gi}.
 *
 * <p>The grammar is the one of {@code resource.Quantity} in k8s.io/apimachinery, with all that it
 * takes: a sign, decimal digits that may be missing, and a binary suffix, a decimal suffix or an
 * exponent of any size. As there, an amount is rounded up to a billionth, and one with a binary
 * suffix is at most 2⁶³−1. Two quantities are equal when their amounts are, however they are
 * written.
 *
 * @param text the amount as the user wrote it; the value where that is very long
 * @param value its exact value; 10¹⁰⁰⁰ for all that is larger
 */
public record Quantity(String text, BigDecimal value) {

    /** More than anything is: a hostile exponent costs neither memory nor time. */
    private static final int MAX_DIGITS = 1_000;

    private static final BigDecimal MOST = BigDecimal.ONE.scaleByPowerOfTen(MAX_DIGITS);
    private static final BigDecimal MOST_BINARY = BigDecimal.valueOf(Long.MAX_VALUE);

    /** Digits of the smallest fraction, a billionth. */
    private static final int NANO = 9;

    /** So many digits of a fraction decide how it is rounded, whatever its suffix. */
    private static final int MAX_FRACTION = 40;

    /** So many digits always fit a {@code long}. */
    private static final int MAX_PLAIN = 18;

    private static final int SHOWN = 64;

    private static final Map<String, Unit> SUFFIXES =
            Map.ofEntries(
                    Map.entry("", Unit.decimal(0)),
                    Map.entry("n", Unit.decimal(-9)),
                    Map.entry("u", Unit.decimal(-6)),
                    Map.entry("m", Unit.decimal(-3)),
                    Map.entry("k", Unit.decimal(3)),
                    Map.entry("M", Unit.decimal(6)),
                    Map.entry("G", Unit.decimal(9)),
                    Map.entry("T", Unit.decimal(12)),
                    Map.entry("P", Unit.decimal(15)),
                    Map.entry("E", Unit.decimal(18)),
                    Map.entry("Ki", Unit.binary(10)),
                    Map.entry("Mi", Unit.binary(20)),
                    Map.entry("Gi", Unit.binary(30)),
                    Map.entry("Ti", Unit.binary(40)),
                    Map.entry("Pi", Unit.binary(50)),
                    Map.entry("Ei", Unit.binary(60)));

    /** What an amount's digits are multiplied by: a power of ten, or one of two. */
    private record Unit(int ten, int two) {

        static Unit decimal(int exponent) {
            return new Unit(exponent, 0);
        }

        static Unit binary(int exponent) {
            return new Unit(0, exponent);
        }

        static @Nullable Unit of(String suffix) {
            Unit named = SUFFIXES.get(suffix);
            return named != null ? named : exponent(suffix);
        }

        private static @Nullable Unit exponent(String suffix) {
            if (suffix.length() < 2 || "eE".indexOf(suffix.charAt(0)) < 0) {
                return null;
            }
            int first = 1 + signLength(suffix, 1);
            if (digitsEnd(suffix, first) < suffix.length()) {
                return null;
            }
            try {
                // Kubernetes keeps the lower 32 bits, too.
                return decimal((int) Long.parseLong(suffix.substring(1)));
            } catch (NumberFormatException e) {
                return null;
            }
        }

        /** Kubernetes takes a suffix alone for zero, unless it is one of these. */
        boolean standsAlone() {
            return ten >= -NANO && two <= 40;
        }
    }

    /**
     * Reads an amount.
     *
     * @throws IllegalArgumentException if Kubernetes would not store it
     */
    public static Quantity parse(String text) {
        if (text.isEmpty()) {
            throw notAQuantity(text);
        }
        int first = signLength(text, 0);
        int point = digitsEnd(text, first);
        if (point == text.length() && 0 < point - first && point <= MAX_PLAIN) {
            return new Quantity(text, BigDecimal.valueOf(Long.parseLong(text)));
        }
        int end = point;
        String digits = text.substring(first, point);
        if (point < text.length() && text.charAt(point) == '.') {
            end = digitsEnd(text, point + 1);
            digits += text.substring(point + 1, end);
        }
        Unit unit = Unit.of(text.substring(end));
        if (unit == null || (digits.isEmpty() && !unit.standsAlone())) {
            throw notAQuantity(text);
        }
        BigDecimal amount = amount(digits, unit, Math.max(0, end - point - 1));
        BigDecimal value = text.charAt(0) == '-' ? amount.negate() : amount;
        // People are shown the text, and pods are stamped with it.
        return new Quantity(text.length() <= SHOWN ? text : value.toString(), value);
    }

    private static int signLength(String text, int at) {
        return "+-".indexOf(text.charAt(at)) < 0 ? 0 : 1;
    }

    private static int digitsEnd(String text, int from) {
        int end = from;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        return end;
    }

    /**
     * @param fraction how many of the digits stand behind the point
     */
    private static BigDecimal amount(String digits, Unit unit, int fraction) {
        int zeros = 0;
        while (zeros < digits.length() && digits.charAt(zeros) == '0') {
            zeros++;
        }
        if (zeros == digits.length()) {
            return BigDecimal.ZERO;
        }
        int significant = digits.length() - zeros;
        long exponent = (long) unit.ten() - fraction;
        if (significant + exponent > MAX_DIGITS) {
            return unit.two() > 0 ? MOST_BINARY : MOST;
        }
        // Before they are read, because reading a million digits takes a second.
        int beyond = Math.clamp(-exponent - MAX_FRACTION, 0, significant);
        int kept = digits.length() - beyond;
        BigInteger number =
                kept == zeros ? BigInteger.ZERO : new BigInteger(digits.substring(zeros, kept));
        if (!digits.substring(kept).chars().allMatch(digit -> digit == '0')) {
            number = number.add(BigInteger.ONE);
        }
        var exact =
                new BigDecimal(
                        number.shiftLeft(unit.two()), (int) Math.min(-exponent, MAX_FRACTION));
        BigDecimal rounded = exact.scale() > NANO ? exact.setScale(NANO, RoundingMode.UP) : exact;
        return unit.two() > 0 ? rounded.min(MOST_BINARY) : rounded;
    }

    /** The amount {@code units}, written plainly. */
    public static Quantity of(long units) {
        return new Quantity(Long.toString(units), BigDecimal.valueOf(units));
    }

    /**
     * The amount as a whole number, or empty if it has a fraction or does not fit a {@code long}.
     */
    public OptionalLong wholeNumber() {
        if (value.scale() == 0 && value.precision() <= MAX_PLAIN) {
            return OptionalLong.of(value.longValue());
        }
        if (!isWhole() || value.precision() - value.scale() > 19) {
            return OptionalLong.empty();
        }
        BigInteger whole = value.toBigInteger();
        return whole.bitLength() < Long.SIZE
                ? OptionalLong.of(whole.longValueExact())
                : OptionalLong.empty();
    }

    /** Whether the amount has no fraction, however large it is. */
    public boolean isWhole() {
        return value.scale() <= 0 || value.stripTrailingZeros().scale() <= 0;
    }

    /** Whether the amount is zero, however it is written. */
    public boolean isZero() {
        return value.signum() == 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Quantity quantity && value.compareTo(quantity.value) == 0;
    }

    @Override
    public int hashCode() {
        return value.stripTrailingZeros().hashCode();
    }

    @Override
    public String toString() {
        return text;
    }

    private static IllegalArgumentException notAQuantity(String text) {
        String shown = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
        return new IllegalArgumentException(
                "\"" + shown + "\" is not a quantity; write a number such as 50, 1k or 4Gi");
    }
}

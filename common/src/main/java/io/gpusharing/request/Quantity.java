package io.gpusharing.request;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.OptionalLong;

/**
 * An amount as Kubernetes writes it: {@code 50}, {@code 0.5}, {@code 1k}, {@code 1e2}, {@code 4Gi}.
 *
 * <p>The grammar is the one of {@code resource.Quantity} in k8s.io/apimachinery: a signed decimal
 * number followed by a binary suffix, a decimal suffix or an exponent. Two quantities are equal
 * when their amounts are, however they are written.
 *
 * @param text the amount as the user wrote it
 * @param value its exact value
 */
public record Quantity(String text, BigDecimal value) {

    /** Longer than any amount that makes sense; keeps a hostile exponent from costing memory. */
    private static final int MAX_LENGTH = 64;

    private static final int MAX_EXPONENT = 30;

    /** So many digits always fit a {@code long}. */
    private static final int MAX_PLAIN = 18;

    private static final Map<String, BigDecimal> SUFFIXES =
            Map.ofEntries(
                    Map.entry("", BigDecimal.ONE),
                    Map.entry("n", BigDecimal.ONE.scaleByPowerOfTen(-9)),
                    Map.entry("u", BigDecimal.ONE.scaleByPowerOfTen(-6)),
                    Map.entry("m", BigDecimal.ONE.scaleByPowerOfTen(-3)),
                    Map.entry("k", BigDecimal.ONE.scaleByPowerOfTen(3)),
                    Map.entry("M", BigDecimal.ONE.scaleByPowerOfTen(6)),
                    Map.entry("G", BigDecimal.ONE.scaleByPowerOfTen(9)),
                    Map.entry("T", BigDecimal.ONE.scaleByPowerOfTen(12)),
                    Map.entry("P", BigDecimal.ONE.scaleByPowerOfTen(15)),
                    Map.entry("E", BigDecimal.ONE.scaleByPowerOfTen(18)),
                    Map.entry("Ki", powerOfTwo(10)),
                    Map.entry("Mi", powerOfTwo(20)),
                    Map.entry("Gi", powerOfTwo(30)),
                    Map.entry("Ti", powerOfTwo(40)),
                    Map.entry("Pi", powerOfTwo(50)),
                    Map.entry("Ei", powerOfTwo(60)));

    /**
     * Reads an amount.
     *
     * @throws IllegalArgumentException if the text is not a Kubernetes quantity
     */
    public static Quantity parse(String text) {
        if (text.isEmpty() || text.length() > MAX_LENGTH) {
            throw notAQuantity(text);
        }
        if (text.length() <= MAX_PLAIN && isDigits(text)) {
            return new Quantity(text, BigDecimal.valueOf(Long.parseLong(text)));
        }
        int end = 0;
        while (end < text.length() && "+-.0123456789".indexOf(text.charAt(end)) >= 0) {
            end++;
        }
        String number = text.substring(0, end);
        String suffix = text.substring(end);
        try {
            BigDecimal scale = SUFFIXES.get(suffix);
            if (scale == null) {
                scale = BigDecimal.ONE.scaleByPowerOfTen(exponent(suffix));
            }
            return new Quantity(text, new BigDecimal(number).multiply(scale));
        } catch (NumberFormatException e) {
            throw notAQuantity(text);
        }
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

    private static boolean isDigits(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private static int exponent(String suffix) {
        if (suffix.length() < 2 || Character.toLowerCase(suffix.charAt(0)) != 'e') {
            throw new NumberFormatException();
        }
        int exponent = Integer.parseInt(suffix.substring(1));
        if (Math.abs(exponent) > MAX_EXPONENT) {
            throw new NumberFormatException();
        }
        return exponent;
    }

    private static BigDecimal powerOfTwo(int bits) {
        return new BigDecimal(BigInteger.ONE.shiftLeft(bits));
    }

    private static IllegalArgumentException notAQuantity(String text) {
        String shown = text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) + "…" : text;
        return new IllegalArgumentException(
                "\"" + shown + "\" is not a quantity; write a number such as 50, 1k or 4Gi");
    }
}

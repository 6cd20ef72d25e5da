package io.gpusharing.recount;

import static java.util.Objects.requireNonNullElse;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Reads amounts as an API server writes them: a number with a suffix or an exponent. Before it
 * stores one it has rounded and limited it, so that the text says all of it.
 */
final class Amounts {

    private static final Pattern AMOUNT =
            Pattern.compile(
                    "([+-]?)(\\d*)(?:\\.(\\d*))?(?:([numkMGTPE]?)|([KMGTPE])i|[eE]([+-]?\\d{1,19}))");

    private static final Map<String, Integer> POWERS_OF_TEN =
            Map.of(
                    "", 0, "n", -9, "u", -6, "m", -3, "k", 3, "M", 6, "G", 9, "T", 12, "P", 15, "E",
                    18);

    private static final String POWERS_OF_1024 = "KMGTPE";

    /**
     * Zeros behind which an amount is not told from another: {@code 1e2147483647} and a GPU
     * together have more digits than there is memory.
     */
    private static final int MOST_DIGITS = 1_000;

    static final BigDecimal MOST = BigDecimal.ONE.scaleByPowerOfTen(MOST_DIGITS);

    private Amounts() {}

    /**
     * How much of a resource is named; zero if none is.
     *
     * @throws IllegalArgumentException if no API server writes it so
     */
    static BigDecimal of(JsonNode amounts, String resource) {
        return read(amounts.path(resource).asString("0"));
    }

    /**
     * An amount; {@link #MOST} for what is larger.
     *
     * @throws IllegalArgumentException if no API server writes it so
     */
    static BigDecimal read(String text) {
        Matcher parts = AMOUNT.matcher(text);
        if (!parts.matches()) {
            throw noAmount(text);
        }
        String fraction = requireNonNullElse(parts.group(3), "");
        String digits = parts.group(2) + fraction;
        if (digits.isEmpty()) {
            throw noAmount(text);
        }
        String binary = parts.group(5);
        String exponent = parts.group(6);
        // Of an exponent Kubernetes keeps the lower 32 bits.
        long power =
                exponent != null
                        ? (int) Long.parseLong(exponent)
                        : POWERS_OF_TEN.getOrDefault(requireNonNullElse(parts.group(4), ""), 0);
        BigDecimal amount = scaled(digits, power - fraction.length());
        if (binary != null) {
            int bits = 10 * (1 + POWERS_OF_1024.indexOf(binary));
            amount = amount.multiply(new BigDecimal(BigInteger.ONE.shiftLeft(bits)));
        }
        return text.startsWith("-") ? amount.negate() : amount;
    }

    private static BigDecimal scaled(String digits, long power) {
        int zeros = 0;
        while (zeros < digits.length() && digits.charAt(zeros) == '0') {
            zeros++;
        }
        if (zeros == digits.length()) {
            return BigDecimal.ZERO;
        }
        return digits.length() - zeros + power > MOST_DIGITS
                ? MOST
                : new BigDecimal(new BigInteger(digits.substring(zeros)))
                        .scaleByPowerOfTen((int) power);
    }

    private static IllegalArgumentException noAmount(String text) {
        return new IllegalArgumentException("\"%.64s\" is no amount".formatted(text));
    }
}

package io.gpusharing.e2e.poison;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.regex.Pattern;

/** Values of each kind that the API server takes in one field or another. */
final class OddValues {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /** The API server itself computes such a power of ten for minutes, in gigabytes. */
    private static final Pattern ENDLESS = Pattern.compile(".*[eE][+-]?[0-9]{5,}");

    /** Every other amount that Kubernetes' own library reads, of a table of thousands. */
    private static final List<String> AMOUNTS = readAmounts();

    private static final Pattern AMOUNT =
            Pattern.compile("[+-]?[0-9]*[.]?[0-9]*([eE][+-]?[0-9]+|m|n|[kMGTPE]i?)?");

    private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\d[Tt].*");

    private static final List<String> TIMES =
            List.of(
                    "9999-12-31T23:59:59-01:00",
                    "9999-12-31T23:59:59.999999999-23:59",
                    "9999-12-31T23:59:59Z",
                    "0000-01-01T00:00:00+23:59",
                    "0000-01-01T00:00:00Z",
                    "0001-01-01T00:00:00Z",
                    "1677-09-21T00:12:43Z",
                    "1969-12-31T23:59:59.999999999Z",
                    "2026-02-28T23:59:59.123456789123+05:45",
                    "2262-04-11T23:47:17Z",
                    "2100-01-01t00:00:00z");

    private static final List<String> TEXTS =
            List.of(
                    "",
                    " ",
                    "\0",
                    "a\0b",
                    "null",
                    "-1",
                    "9e999",
                    "{}",
                    "[",
                    "\"",
                    "\n",
                    "%s%n",
                    "'; drop table charge; --",
                    "☃",
                    "\u202Eabc",
                    "e\u0301\u200D\uFEFF",
                    "\uD83D\uDCA9",
                    "true",
                    "a=b,c/d=1;e",
                    "00000000-0000-0000-0000-000000000000");

    private static final List<Long> NUMBERS =
            List.of(
                    0L,
                    1L,
                    -1L,
                    100L,
                    (long) Integer.MAX_VALUE,
                    (long) Integer.MIN_VALUE,
                    1L << 31,
                    (1L << 53) + 1,
                    Long.MAX_VALUE,
                    Long.MIN_VALUE);

    private final SplittableRandom random;

    OddValues(SplittableRandom random) {
        this.random = random;
    }

    String amount() {
        return AMOUNTS.get(random.nextInt(AMOUNTS.size()));
    }

    String time() {
        return TIMES.get(random.nextInt(TIMES.size()));
    }

    String text() {
        return random.nextInt(10) == 0
                ? "<".repeat(random.nextInt(3_000))
                : TEXTS.get(random.nextInt(TEXTS.size()));
    }

    /** Another value of the same kind; nothing instead of an empty list or object. */
    JsonNode insteadOf(JsonNode value) {
        if (value.isContainerNode() || value.isNull()) {
            return NODES.nullNode();
        }
        if (value.isNumber()) {
            return NODES.numberNode(NUMBERS.get(random.nextInt(NUMBERS.size())));
        }
        if (value.isBoolean()) {
            return NODES.booleanNode(!value.asBoolean());
        }
        String text = value.asText();
        if (TIME.matcher(text).matches()) {
            return NODES.textNode(time());
        }
        return NODES.textNode(
                !text.isEmpty() && AMOUNT.matcher(text).matches() ? amount() : text());
    }

    /** For people. */
    static String inShort(JsonNode value) {
        String text = value.toString();
        return text.length() <= 60 ? text : text.substring(0, 60) + "…";
    }

    private static List<String> readAmounts() {
        try (var table =
                new BufferedReader(
                        new InputStreamReader(
                                Objects.requireNonNull(
                                        OddValues.class.getResourceAsStream(
                                                "/io/gpusharing/request/quantities.tsv")),
                                UTF_8))) {
            var json = new ObjectMapper();
            return table.lines()
                    .map(line -> line.split("\t", -1))
                    .filter(columns -> columns.length > 2)
                    .map(columns -> text(json, columns[0]))
                    .filter(amount -> !ENDLESS.matcher(amount).matches())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(ObjectMapper json, String quoted) {
        try {
            return json.readValue(quoted, String.class);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}

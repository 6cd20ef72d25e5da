package io.gpusharing.webhook.budget;

import io.gpusharing.webhook.decision.Finding;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Finds amounts that are decimal numbers where text is wanted. The definition takes integers, and
 * of a decimal number it says only that it has the wrong type.
 */
final class UnquotedMinutes {

    private UnquotedMinutes() {}

    /**
     * Finds them in a budget or a grant.
     *
     * @param object the whole object
     * @param fields paths of the amounts, for instance {@code spec.gpuMinutes}
     */
    static List<Finding> in(JsonNode object, String... fields) {
        return Stream.of(fields).flatMap(field -> in(object, field)).toList();
    }

    private static Stream<Finding> in(JsonNode object, String field) {
        JsonNode amount = object.at("/" + field.replace('.', '/'));
        return amount.isNumber() && !amount.isIntegralNumber()
                ? Stream.of(
                        new Finding(
                                "UNQUOTED",
                                "%s is the number %s; write it in quotes: %s: \"%2$s\""
                                        .formatted(
                                                field,
                                                amount.decimalValue().toPlainString(),
                                                field.substring(field.lastIndexOf('.') + 1))))
                : Stream.empty();
    }
}

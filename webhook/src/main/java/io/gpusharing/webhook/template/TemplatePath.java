package io.gpusharing.webhook.template;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * The way from an object to parts of it, as people write it: {@code spec.templates[*].container}.
 * Fields are joined by dots; {@code [*]} stands for every entry of a list, or every value of an
 * object whose keys are names.
 *
 * @param fields names of fields, an asterisk for every entry; empty for the object itself
 */
public record TemplatePath(List<String> fields) {

    private static final String EVERY = "*";
    private static final Pattern SYNTAX =
            Pattern.compile("[A-Za-z0-9_-]+(\\[\\*])*(\\.[A-Za-z0-9_-]+(\\[\\*])*)*");

    public TemplatePath {
        fields = List.copyOf(fields);
    }

    /**
     * @throws IllegalArgumentException with advice, if it is not written so
     */
    public static TemplatePath parse(String text) {
        if (!SYNTAX.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "The path \"%s\" cannot be read; write it as spec.templates[*].container"
                            .formatted(text));
        }
        var fields = new ArrayList<String>();
        for (String field : text.split("\\.", -1)) {
            int every = field.indexOf('[');
            fields.add(every < 0 ? field : field.substring(0, every));
            for (int i = every; i >= 0; i = field.indexOf('[', i + 1)) {
                fields.add(EVERY);
            }
        }
        return new TemplatePath(fields);
    }

    /** All parts that the way leads to, in the object's order; what is absent is left out. */
    public Stream<JsonNode> in(JsonNode object) {
        Stream<JsonNode> reached = Stream.of(object);
        for (String field : fields) {
            reached =
                    field.equals(EVERY)
                            ? reached.flatMap(JsonNode::valueStream)
                            : reached.map(node -> node.path(field));
        }
        return reached.filter(JsonNode::isObject);
    }
}

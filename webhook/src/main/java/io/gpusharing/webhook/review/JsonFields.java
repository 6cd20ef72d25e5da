package io.gpusharing.webhook.review;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Small steps of a streaming parser that say what they expected when they do not find it. */
final class JsonFields {

    private JsonFields() {}

    /**
     * Whether the current value is an object to go into; false for null.
     *
     * @throws MalformedReviewException if it is anything else
     */
    static boolean isObject(JsonParser json) {
        return begins(json, JsonToken.START_OBJECT, "an object");
    }

    /**
     * Whether the current value is a list to go through; false for null.
     *
     * @throws MalformedReviewException if it is anything else
     */
    static boolean isList(JsonParser json) {
        return begins(json, JsonToken.START_ARRAY, "a list");
    }

    /** The name of the object's next field, with the parser at its value; null at the end. */
    static @Nullable String nextField(JsonParser json) {
        String name = json.nextName();
        if (name != null) {
            json.nextToken();
        }
        return name;
    }

    /**
     * Says that a field that decides may be there only once: we would read one and others the
     * other. The parser's own check of all fields would cost as much memory as everything else.
     *
     * @throws MalformedReviewException if it was read before
     */
    static void once(boolean first, String name) {
        if (!first) {
            throw new MalformedReviewException("Duplicate field " + name);
        }
    }

    /** Whether the list goes on, with the parser at its next entry. */
    static boolean nextEntry(JsonParser json) {
        return json.nextToken() != JsonToken.END_ARRAY;
    }

    /** A string; null for null. */
    static @Nullable String text(JsonParser json) {
        return switch (json.currentToken()) {
            case VALUE_STRING -> json.getString();
            case VALUE_NULL -> null;
            default -> throw unexpected(json, "a string");
        };
    }

    /** A string; empty for null. */
    static String textOrEmpty(JsonParser json) {
        String text = text(json);
        return text == null ? "" : text;
    }

    /** A string or number as it is written, which is how quantities may come; null for null. */
    static @Nullable String scalar(JsonParser json) {
        return switch (json.currentToken()) {
            case VALUE_STRING, VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> json.getString();
            case VALUE_NULL -> null;
            default -> throw unexpected(json, "a string or number");
        };
    }

    /** True or false; false for null. */
    static boolean bool(JsonParser json) {
        return switch (json.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE, VALUE_NULL -> false;
            default -> throw unexpected(json, "true or false");
        };
    }

    /** A whole number; null for null. */
    static @Nullable Long number(JsonParser json) {
        return switch (json.currentToken()) {
            case VALUE_NUMBER_INT -> json.getLongValue();
            case VALUE_NULL -> null;
            default -> throw unexpected(json, "a whole number");
        };
    }

    /**
     * What {@code value} reads of one field of an object; null if it is not there, and for null.
     */
    static <T> @Nullable T field(
            JsonParser json, String field, Function<JsonParser, @Nullable T> value) {
        T found = null;
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                if (name.equals(field)) {
                    found = value.apply(json);
                } else {
                    json.skipChildren();
                }
            }
        }
        return found;
    }

    /** An object of strings; null for null. */
    static @Nullable Map<String, String> texts(JsonParser json) {
        if (!isObject(json)) {
            return null;
        }
        var texts = new HashMap<String, String>();
        for (String name; (name = nextField(json)) != null; ) {
            once(texts.put(name, textOrEmpty(json)) == null, name);
        }
        return texts;
    }

    /** A list of whatever {@code entry} reads at each; null for null. */
    static <T> @Nullable List<T> list(JsonParser json, Supplier<T> entry) {
        if (!isList(json)) {
            return null;
        }
        var list = new ArrayList<T>();
        while (nextEntry(json)) {
            list.add(entry.get());
        }
        return list;
    }

    /**
     * A list that has so many entries at most, which are larger in memory than in the document.
     *
     * @throws MalformedReviewException if it has more
     */
    static <T> @Nullable List<T> list(JsonParser json, int most, Supplier<T> entry) {
        var count = new int[1];
        return list(
                json,
                () -> {
                    if (++count[0] > most) {
                        throw unexpected(json, "one of %d entries at most".formatted(most));
                    }
                    return entry.get();
                });
    }

    /** Where the current token begins; 0 where the parser does not read bytes. */
    static int begin(JsonParser json) {
        return (int) Math.max(0, json.currentTokenLocation().getByteOffset());
    }

    /** From {@code begin} to the end of the current token. */
    static Slice sliceFrom(int begin, JsonParser json, byte[] document) {
        int end = (int) json.currentLocation().getByteOffset();
        return end <= begin ? Slice.NONE : new Slice(document, begin, end);
    }

    private static boolean begins(JsonParser json, JsonToken token, String expected) {
        if (json.currentToken() == token) {
            return true;
        }
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return false;
        }
        throw unexpected(json, expected);
    }

    private static MalformedReviewException unexpected(JsonParser json, String expected) {
        return new MalformedReviewException(
                json.streamReadContext().pathAsPointer() + " is not " + expected);
    }
}

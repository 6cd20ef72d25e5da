package io.gpusharing.sidecar.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The little JSON we need: objects become maps, arrays lists, whole numbers {@code Long}, other
 * numbers {@code Double}. Depth is bounded.
 */
public final class Json {

    private static final int DEEPEST = 32;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Reads one value that fills the whole text.
     *
     * @throws IllegalArgumentException if the text is not JSON
     */
    public static @Nullable Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.blanks();
        if (json.at != text.length()) {
            throw json.wrong("nothing more");
        }
        return value;
    }

    /**
     * Reads one object.
     *
     * @throws IllegalArgumentException if the text is not a JSON object
     */
    public static Map<?, ?> parseObject(String text) {
        if (parse(text) instanceof Map<?, ?> object) {
            return object;
        }
        throw new IllegalArgumentException("not a JSON object");
    }

    private @Nullable Object value(int depth) {
        if (depth > DEEPEST) {
            throw wrong("less depth");
        }
        blanks();
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        at++;
        blanks();
        if (peek() == '}') {
            at++;
            return object;
        }
        while (true) {
            blanks();
            String key = string();
            blanks();
            expect(':');
            object.put(key, value(depth + 1));
            blanks();
            if (peek() == '}') {
                at++;
                return object;
            }
            expect(',');
        }
    }

    private List<@Nullable Object> array(int depth) {
        List<@Nullable Object> array = new ArrayList<>();
        at++;
        blanks();
        if (peek() == ']') {
            at++;
            return array;
        }
        while (true) {
            array.add(value(depth + 1));
            blanks();
            if (peek() == ']') {
                at++;
                return array;
            }
            expect(',');
        }
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            string.append(c == '\\' ? escaped() : c);
        }
        at++;
        return string.toString();
    }

    private char escaped() {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw wrong("four hex digits");
                }
                at += 4;
                yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
            }
            default -> throw wrong("an escape");
        };
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return value;
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(from, at);
        if (number.isEmpty()) {
            throw wrong("a value");
        }
        if (number.matches("-?\\d{1,18}")) {
            return Long.valueOf(number);
        }
        return Double.valueOf(number);
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("more text");
        }
        return text.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) {
            throw wrong("'" + c + "'");
        }
        at++;
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException("JSON: wanted " + wanted + " at character " + at);
    }

    /** Appends a string literal. */
    public static void quote(StringBuilder out, String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                default -> {
                    if (c < ' ') {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}

package io.gpusharing.deviceplugin.cluster;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/** Walks through JSON without holding what nobody asks for. */
final class Json {

    private Json() {}

    /** Reads the value of a member, or skips it. */
    @FunctionalInterface
    interface Member {
        void read(String name, JsonReader json) throws IOException;
    }

    /** Reads an element of an array. */
    @FunctionalInterface
    interface Element {
        void read(JsonReader json) throws IOException;
    }

    /** Calls for each member; anything but an object has none. */
    static void object(JsonReader json, Member member) throws IOException {
        if (json.peek() != JsonToken.BEGIN_OBJECT) {
            json.skipValue();
            return;
        }
        json.beginObject();
        while (json.hasNext()) {
            member.read(json.nextName(), json);
        }
        json.endObject();
    }

    /** Calls for each element; Go writes null for an array that has none. */
    static void array(JsonReader json, Element element) throws IOException {
        if (json.peek() != JsonToken.BEGIN_ARRAY) {
            json.skipValue();
            return;
        }
        json.beginArray();
        while (json.hasNext()) {
            element.read(json);
        }
        json.endArray();
    }

    /** A text; empty for null. */
    static String text(JsonReader json) throws IOException {
        if (json.peek() == JsonToken.NULL) {
            json.nextNull();
            return "";
        }
        return json.nextString();
    }

    /** Texts by name. */
    static Map<String, String> texts(JsonReader json, Predicate<String> wanted) throws IOException {
        var texts = new HashMap<String, String>();
        object(
                json,
                (name, value) -> {
                    if (wanted.test(name)) {
                        texts.put(name, text(value));
                    } else {
                        value.skipValue();
                    }
                });
        return texts;
    }
}

package io.gpusharing.timekeeper.aggregated;

import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdScalarDeserializer;

/**
 * Reads a value of any kind as its JSON. As a tree it would take thirty times the memory until its
 * question is answered.
 */
final class RawJson extends StdScalarDeserializer<String> {

    RawJson() {
        super(String.class);
    }

    @Override
    public String deserialize(JsonParser json, DeserializationContext context) {
        return context.readTree(json).toString();
    }
}

package io.gpusharing.webhook.decision;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** JSON as the bytes that are sent. */
public final class JsonBytes {

    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonBytes() {}

    /** What {@code content} writes. */
    public static byte[] of(Consumer<JsonGenerator> content) {
        var written = new Written();
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), written)) {
            content.accept(json);
        }
        return written.bytes();
    }

    /**
     * The generator hands over all at once what is shorter than 8,000 bytes, so that most answers
     * need exactly that much memory, and no copy.
     */
    private static final class Written extends ByteArrayOutputStream {

        Written() {
            super(0);
        }

        byte[] bytes() {
            return count == buf.length ? buf : Arrays.copyOf(buf, count);
        }
    }
}

package io.gpusharing.webhook.injection;

import io.gpusharing.webhook.review.PodView.Metadata;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * What we add to one object, as a JSON Patch (RFC 6902). Written by hand and key by key, so that
 * nothing of the user's can be replaced or lost by it.
 */
public sealed class ObjectPatch permits PodPatch {

    private static final JsonFactory FACTORY = new JsonFactory();

    /**
     * @param json what is added; null removes
     * @param text the same where it is a plain string
     */
    private record Operation(String path, @Nullable String json, @Nullable String text) {

        static Operation addText(String path, String text) {
            return new Operation(path, null, text);
        }

        static Operation addJson(String path, String json) {
            return new Operation(path, json, null);
        }

        static Operation remove(String path) {
            return new Operation(path, null, null);
        }
    }

    private final Metadata metadata;
    private final List<Operation> operations = new ArrayList<>();
    private boolean hasAnnotations;
    private boolean hasLabels;

    /**
     * @param metadata of what is patched
     */
    public ObjectPatch(Metadata metadata) {
        this.metadata = metadata;
        this.hasAnnotations = metadata.annotations() != null;
        this.hasLabels = metadata.labels() != null;
    }

    /** Sets one annotation, unless it has this value already. */
    public void annotate(String key, String value) {
        if (value.equals(metadata.annotation(key))) {
            return;
        }
        if (!hasAnnotations) {
            addJson("/metadata/annotations", "{}");
            hasAnnotations = true;
        }
        addText("/metadata/annotations/" + escaped(key), value);
    }

    /** Takes one annotation away, if it is there. */
    public void removeAnnotation(String key) {
        if (metadata.annotation(key) != null) {
            remove("/metadata/annotations/" + escaped(key));
        }
    }

    /** Sets one label, unless it has this value already. */
    public void label(String key, String value) {
        if (value.equals(metadata.label(key))) {
            return;
        }
        if (!hasLabels) {
            addJson("/metadata/labels", "{}");
            hasLabels = true;
        }
        addText("/metadata/labels/" + escaped(key), value);
    }

    final void addText(String path, String value) {
        operations.add(Operation.addText(path, value));
    }

    final void addJson(String path, String value) {
        operations.add(Operation.addJson(path, value));
    }

    final void remove(String path) {
        operations.add(Operation.remove(path));
    }

    /** Whether nothing is changed. */
    public boolean isEmpty() {
        return operations.isEmpty();
    }

    /** The patch as it is sent. */
    public byte[] toJson() {
        var bytes = new ByteArrayOutputStream(3072);
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
            json.writeStartArray();
            for (Operation operation : operations) {
                write(operation, json);
            }
            json.writeEndArray();
        }
        return bytes.toByteArray();
    }

    private static void write(Operation operation, JsonGenerator json) {
        json.writeStartObject();
        boolean adds = operation.json() != null || operation.text() != null;
        json.writeStringProperty("op", adds ? "add" : "remove");
        json.writeStringProperty("path", operation.path());
        if (operation.json() != null) {
            json.writeName("value");
            json.writeRawValue(operation.json());
        } else if (operation.text() != null) {
            json.writeStringProperty("value", operation.text());
        }
        json.writeEndObject();
    }

    /** A key as a part of a JSON Pointer (RFC 6901). */
    static String escaped(String key) {
        return key.replace("~", "~0").replace("/", "~1");
    }
}

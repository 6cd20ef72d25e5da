package io.gpusharing.webhook.decision;

import io.gpusharing.webhook.review.PodView.Metadata;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.SerializedString;

/**
 * What we add to one object, as a JSON Patch (RFC 6902). Written by hand and key by key, so that
 * nothing of the user's can be replaced or lost by it.
 */
public class ObjectPatch {

    /** One step of the patch. Exactly one of the four. */
    private sealed interface Operation {

        String path();

        record AddText(String path, String text) implements Operation {}

        record AddJson(String path, SerializableString json) implements Operation {}

        record AddList(String path, List<SerializableString> entries) implements Operation {}

        record Remove(String path) implements Operation {}
    }

    private static final SerializableString EMPTY = new SerializedString("{}");

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
            addJson("/metadata/annotations", EMPTY);
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
            addJson("/metadata/labels", EMPTY);
            hasLabels = true;
        }
        addText("/metadata/labels/" + escaped(key), value);
    }

    protected final void addText(String path, String value) {
        operations.add(new Operation.AddText(path, value));
    }

    /** Adds JSON as it is. */
    protected final void addJson(String path, SerializableString json) {
        operations.add(new Operation.AddJson(path, json));
    }

    /** Adds a list of JSON values, each as it is. */
    protected final void addList(String path, List<SerializableString> entries) {
        operations.add(new Operation.AddList(path, entries));
    }

    protected final void remove(String path) {
        operations.add(new Operation.Remove(path));
    }

    /** Whether nothing is changed. */
    public boolean isEmpty() {
        return operations.isEmpty();
    }

    /** The patch as it is sent. */
    public byte[] toJson() {
        return JsonBytes.of(json -> {
            json.writeStartArray();
            for (Operation operation : operations) {
                write(operation, json);
            }
            json.writeEndArray();
        });
    }

    private static void write(Operation operation, JsonGenerator json) {
        json.writeStartObject();
        json.writeStringProperty("op", operation instanceof Operation.Remove ? "remove" : "add");
        json.writeStringProperty("path", operation.path());
        switch (operation) {
            case Operation.AddText(_, String text) -> json.writeStringProperty("value", text);
            case Operation.AddJson(_, SerializableString value) -> {
                json.writeName("value");
                json.writeRawValue(value);
            }
            case Operation.AddList(_, List<SerializableString> entries) -> {
                json.writeArrayPropertyStart("value");
                entries.forEach(json::writeRawValue);
                json.writeEndArray();
            }
            case Operation.Remove _ -> {
                // Has no value.
            }
        }
        json.writeEndObject();
    }

    /** A key as a part of a JSON Pointer (RFC 6901). */
    protected static String escaped(String key) {
        return key.replace("~", "~0").replace("/", "~1");
    }
}

package io.gpusharing.webhook.injection;

import io.gpusharing.webhook.review.PodView;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * What we add to one pod, as a JSON Patch (RFC 6902). Written by hand and key by key, so that
 * nothing of the user's can be replaced or lost by it.
 */
public final class PodPatch {

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

    private final PodView pod;
    private final List<Operation> operations = new ArrayList<>();
    private boolean hasAnnotations;
    private boolean hasLabels;

    /**
     * @param pod what is patched
     */
    public PodPatch(PodView pod) {
        this.pod = pod;
        this.hasAnnotations = pod.metadata().annotations() != null;
        this.hasLabels = pod.metadata().labels() != null;
    }

    /** Sets one annotation, unless it has this value already. */
    public void annotate(String key, String value) {
        if (value.equals(pod.annotation(key))) {
            return;
        }
        if (!hasAnnotations) {
            operations.add(Operation.addJson("/metadata/annotations", "{}"));
            hasAnnotations = true;
        }
        operations.add(Operation.addText("/metadata/annotations/" + escaped(key), value));
    }

    /** Takes one annotation away, if it is there. */
    public void removeAnnotation(String key) {
        if (pod.annotation(key) != null) {
            operations.add(Operation.remove("/metadata/annotations/" + escaped(key)));
        }
    }

    /** Sets one label, unless it has this value already. */
    public void label(String key, String value) {
        if (value.equals(pod.label(key))) {
            return;
        }
        if (!hasLabels) {
            operations.add(Operation.addJson("/metadata/labels", "{}"));
            hasLabels = true;
        }
        operations.add(Operation.addText("/metadata/labels/" + escaped(key), value));
    }

    /**
     * Sets the priority class, unless it is this one already. The API server's Priority plugin has
     * run before us and filled in the old class's number and policy; if they stayed, it would
     * answer 403 when it runs again.
     */
    public void priorityClass(String name) {
        if (name.equals(pod.spec().priorityClassName())) {
            return;
        }
        operations.add(Operation.addText("/spec/priorityClassName", name));
        if (pod.spec().priority() != null) {
            operations.add(Operation.remove("/spec/priority"));
        }
        if (pod.spec().preemptionPolicy() != null) {
            operations.add(Operation.remove("/spec/preemptionPolicy"));
        }
    }

    /** Adds the container as the first init container, and its volumes. */
    public void inject(Sidecar.Parts parts) {
        if (pod.spec().initContainers() == null) {
            operations.add(
                    Operation.addJson("/spec/initContainers", "[" + parts.container() + "]"));
        } else {
            operations.add(Operation.addJson("/spec/initContainers/0", parts.container()));
        }
        append("/spec/volumes", pod.spec().volumes() == null, parts.volumes());
    }

    /** Adds registry credentials that the pod does not name yet. */
    public void pullSecrets(List<String> names) {
        List<String> present = pod.spec().imagePullSecrets();
        List<String> missing =
                names.stream()
                        .filter(name -> present == null || !present.contains(name))
                        .map(name -> "{\"name\":\"" + name + "\"}")
                        .toList();
        append("/spec/imagePullSecrets", present == null, missing);
    }

    private void append(String path, boolean absent, List<String> entries) {
        if (entries.isEmpty()) {
            return;
        }
        if (absent) {
            operations.add(Operation.addJson(path, "[" + String.join(",", entries) + "]"));
        } else {
            entries.forEach(entry -> operations.add(Operation.addJson(path + "/-", entry)));
        }
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
    private static String escaped(String key) {
        return key.replace("~", "~0").replace("/", "~1");
    }
}

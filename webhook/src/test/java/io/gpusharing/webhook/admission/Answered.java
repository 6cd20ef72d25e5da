package io.gpusharing.webhook.admission;

import io.fabric8.zjsonpatch.JsonPatch;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An answer, read as the API server reads it. */
public final class Answered {

    private final JsonNode response;
    private final JsonNode asked;

    Answered(byte[] answer, JsonNode asked) {
        JsonNode review = JsonMapper.shared().readTree(answer);
        if (!review.path("apiVersion").asString("").equals("admission.k8s.io/v1")
                || !review.path("kind").asString("").equals("AdmissionReview")) {
            throw new AssertionError("Not an AdmissionReview: " + review);
        }
        this.response = review.path("response");
        this.asked = asked;
        if (response.has("patch") != response.has("patchType")) {
            throw new AssertionError("patch and patchType come together: " + response);
        }
    }

    public boolean allowed() {
        return response.path("allowed").asBoolean();
    }

    String uid() {
        return response.path("uid").asString("");
    }

    int code() {
        return response.path("status").path("code").asInt(0);
    }

    public String message() {
        return response.path("status").path("message").asString("");
    }

    List<String> warnings() {
        return response.path("warnings").valueStream().map(JsonNode::asString).toList();
    }

    public String audit(String key) {
        return response.path("auditAnnotations").path(key).asString("");
    }

    /** The operations, as {@code add /spec/volumes}. */
    List<String> operations() {
        var operations = new ArrayList<String>();
        patch().forEach(operation ->
                operations.add(
                        operation.path("op").asString() + " " + operation.path("path").asString()));
        return operations;
    }

    /** The object after the patch; an operation that does not fit fails, as in the API server. */
    JsonNode patched() {
        return JsonPatch.apply(patch(), asked.deepCopy());
    }

    String annotation(String key) {
        return patched().path("metadata").path("annotations").path(key).asString("");
    }

    String priorityClass() {
        return patched().path("spec").path("priorityClassName").asString("");
    }

    List<String> initContainers() {
        return patched()
                .path("spec")
                .path("initContainers")
                .valueStream()
                .map(container -> container.path("name").asString())
                .toList();
    }

    private JsonNode patch() {
        return response.has("patch")
                ? JsonMapper.shared().readTree(response.path("patch").binaryValue())
                : JsonMapper.shared().createArrayNode();
    }
}

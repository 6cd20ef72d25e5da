package io.gpusharing.webhook.decision;

import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/** A decision as the bytes of an AdmissionReview of version v1. */
public final class AdmissionResponse {

    private AdmissionResponse() {}

    public static byte[] to(String uid, Decision decision) {
        return JsonBytes.of(json -> {
            json.writeStartObject();
            json.writeStringProperty("apiVersion", "admission.k8s.io/v1");
            json.writeStringProperty("kind", "AdmissionReview");
            json.writeObjectPropertyStart("response");
            json.writeStringProperty("uid", uid);
            switch (decision) {
                case Untouched _ -> json.writeBooleanProperty("allowed", true);
                case Allowed allowed -> write(allowed, json);
                case Refused refused -> write(refused, json);
            }
            json.writeObjectPropertyStart("auditAnnotations");
            json.writeStringProperty("verdict", decision.word());
            audit(decision).forEach(json::writeStringProperty);
            json.writeEndObject();
            json.writeEndObject();
            json.writeEndObject();
        });
    }

    private static void write(Allowed allowed, JsonGenerator json) {
        json.writeBooleanProperty("allowed", true);
        ObjectPatch patch = allowed.patch();
        if (patch != null && !patch.isEmpty()) {
            json.writeStringProperty("patchType", "JSONPatch");
            // The JDK's encoder is ten times as fast as the generator's.
            byte[] base64 = Base64.getEncoder().encode(patch.toJson());
            json.writeName("patch");
            json.writeRawUTF8String(base64, 0, base64.length);
        }
        List<String> warnings = WarningText.fitted(allowed.warnings());
        if (!warnings.isEmpty()) {
            json.writeArrayPropertyStart("warnings");
            warnings.forEach(json::writeString);
            json.writeEndArray();
        }
    }

    private static void write(Refused refused, JsonGenerator json) {
        json.writeBooleanProperty("allowed", false);
        json.writeObjectPropertyStart("status");
        json.writeStringProperty("status", "Failure");
        json.writeNumberProperty("code", refused.code());
        json.writeStringProperty(
                "reason", refused.code() == Refused.INVALID ? "Invalid" : "Forbidden");
        json.writeStringProperty("message", refused.message());
        json.writeEndObject();
    }

    private static Map<String, String> audit(Decision decision) {
        return switch (decision) {
            case Untouched _ -> Map.of();
            case Allowed allowed -> allowed.audit();
            case Refused refused ->
                    Map.of(
                            "rules",
                            refused.findings().stream()
                                    .map(Finding::rule)
                                    .distinct()
                                    .collect(Collectors.joining(",")));
        };
    }
}

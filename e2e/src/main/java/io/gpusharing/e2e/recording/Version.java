package io.gpusharing.e2e.recording;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;

/**
 * One event of a watch: a pod as it was stored, {@code managedFields} and all.
 *
 * @param at when it arrived here, by this computer's clock
 * @param type {@code ADDED}, {@code MODIFIED} or {@code DELETED}; {@code LISTED} after the watch
 *     could not go on
 */
record Version(Instant at, String type, JsonNode pod) {

    /** The label by which a life's pods are known. */
    static final String LIFE = "life";

    String life() {
        return pod.at("/metadata/labels/" + LIFE).asText();
    }

    String name() {
        return pod.at("/metadata/name").asText();
    }

    String uid() {
        return pod.at("/metadata/uid").asText();
    }

    String resourceVersion() {
        return pod.at("/metadata/resourceVersion").asText();
    }

    String phase() {
        return pod.at("/status/phase").asText();
    }

    boolean removed() {
        return type.equals("DELETED");
    }

    boolean terminal() {
        return phase().equals("Succeeded") || phase().equals("Failed");
    }

    boolean bound() {
        return pod.at("/spec/nodeName").isTextual();
    }

    /** Whether a condition has a status, {@code Ready=True} for instance. */
    boolean has(String condition, String status) {
        return pod.at("/status/conditions")
                .valueStream()
                .anyMatch(it ->
                        it.path("type").asText().equals(condition)
                                && it.path("status").asText().equals(status));
    }

    boolean ready() {
        return has("Ready", "True");
    }

    /** The reason of the pod itself, or of whatever its containers wait for or ended by. */
    boolean hasReason(String reason) {
        return pod.path("status").findValuesAsText("reason").contains(reason);
    }

    /** How often its own container was started again. */
    int restarts() {
        return pod.at("/status/containerStatuses/0/restartCount").asInt();
    }
}

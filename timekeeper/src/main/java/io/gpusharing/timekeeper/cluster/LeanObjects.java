package io.gpusharing.timekeeper.cluster;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import tools.jackson.databind.json.JsonMapper;

/**
 * Objects without what nobody here reads. It is the larger half of a pod, and is passed over by the
 * parser instead of becoming ten thousand maps and lists that live for a moment.
 *
 * <p>What is left out is not written either: this client makes no pods and nodes, and what it
 * changes of a pod it names in a patch.
 */
final class LeanObjects {

    private LeanObjects() {}

    static KubernetesSerialization serialization() {
        return new KubernetesSerialization(
                JsonMapper.builder()
                        .addMixIn(ManagedFieldsEntry.class, OfManager.class)
                        .addMixIn(PodSpec.class, Spec.class)
                        .addMixIn(Container.class, OfContainer.class)
                        .addMixIn(NodeStatus.class, OfNode.class)
                        .build(),
                true);
    }

    /** Who wrote a status and when is read; which fields it were is not. */
    @JsonIgnoreProperties("fieldsV1")
    private interface OfManager {}

    @JsonIgnoreProperties({"volumes", "ephemeralContainers", "securityContext", "dnsConfig"})
    private interface Spec {}

    @JsonIgnoreProperties({
        "args",
        "command",
        "env",
        "envFrom",
        "lifecycle",
        "livenessProbe",
        "readinessProbe",
        "securityContext",
        "startupProbe",
        "volumeDevices",
        "volumeMounts"
    })
    private interface OfContainer {}

    @JsonIgnoreProperties({"images", "volumesAttached", "volumesInUse"})
    private interface OfNode {}
}

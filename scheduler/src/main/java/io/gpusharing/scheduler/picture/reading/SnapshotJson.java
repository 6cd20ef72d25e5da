package io.gpusharing.scheduler.picture.reading;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.ApiServerSerialization;
import io.gpusharing.kubernetes.SharedMemoryMounts;
import java.util.List;
import tools.jackson.databind.annotation.JsonDeserialize;

/**
 * Pods and nodes of a snapshot without what nobody reads of them, which is the larger half of a
 * pod. Our own client passes over more than that: it remembers all pods, of which a snapshot keeps
 * a few numbers.
 */
final class SnapshotJson {

    private SnapshotJson() {}

    /** What reads them. */
    static ApiServerSerialization serialization() {
        return ApiServerJson.serialization(
                ApiServerJson.mapper()
                        .addMixIn(ObjectMeta.class, OfMetadata.class)
                        .addMixIn(PodSpec.class, OfPod.class)
                        .addMixIn(Container.class, OfContainer.class)
                        .addMixIn(NodeStatus.class, OfNode.class)
                        .build());
    }

    @JsonIgnoreProperties("managedFields")
    private interface OfMetadata {}

    @JsonIgnoreProperties({"volumes", "ephemeralContainers", "securityContext", "dnsConfig"})
    private interface OfPod {}

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
        "volumeDevices"
    })
    interface OfContainer {

        @JsonDeserialize(using = SharedMemoryMounts.class)
        void setVolumeMounts(List<VolumeMount> mounts);
    }

    @JsonIgnoreProperties({"images", "volumesAttached", "volumesInUse"})
    private interface OfNode {}
}

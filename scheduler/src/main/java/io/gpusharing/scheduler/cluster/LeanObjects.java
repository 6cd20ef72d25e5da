package io.gpusharing.scheduler.cluster;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.SharedMemoryMounts;
import java.util.List;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.json.JsonMapper;

/**
 * Pods without what nobody here reads, which is most of them: tens of thousands are remembered.
 * This client makes no pods, and what it changes of one it names in a patch.
 */
public final class LeanObjects {

    private LeanObjects() {}

    /** What reads them. */
    public static KubernetesSerialization serialization() {
        JsonMapper.Builder mapper = ApiServerJson.mapper();
        lean(mapper);
        return ApiServerJson.serialization(mapper.build());
    }

    /** Lets a mapper pass over the rest. */
    public static void lean(JsonMapper.Builder mapper) {
        mapper.addMixIn(ObjectMeta.class, OfMetadata.class)
                .addMixIn(OwnerReference.class, OfOwner.class)
                .addMixIn(PodSpec.class, OfSpec.class)
                .addMixIn(PodStatus.class, OfStatus.class)
                .addMixIn(PodCondition.class, OfCondition.class)
                .addMixIn(Container.class, OfContainer.class);
    }

    @JsonIgnoreProperties("managedFields")
    private interface OfMetadata {}

    @JsonIncludeProperties({"kind", "uid", "controller"})
    private interface OfOwner {}

    @JsonIncludeProperties({
        "nodeName",
        "schedulerName",
        "priority",
        "preemptionPolicy",
        "terminationGracePeriodSeconds",
        "containers",
        "initContainers",
        "resources",
        "overhead",
        "hostIPC",
        "affinity",
        "topologySpreadConstraints"
    })
    private interface OfSpec {}

    @JsonIncludeProperties({"phase", "startTime", "conditions"})
    private interface OfStatus {}

    @JsonIncludeProperties({"type", "status"})
    private interface OfCondition {}

    @JsonIncludeProperties({"name", "restartPolicy", "resources", "ports", "volumeMounts"})
    interface OfContainer {

        @JsonDeserialize(using = SharedMemoryMounts.class)
        void setVolumeMounts(List<VolumeMount> mounts);
    }
}

package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code ExtenderPreemptionArgs}: whom may the pod preempt?
 *
 * @param victims whom kube-scheduler would evict, by node; null unless the extender is configured
 *     with {@code nodeCacheCapable}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record PreemptQuestion(
        @JsonProperty("Pod") Pod pod,
        @JsonProperty("NodeNameToMetaVictims")
                @Nullable Map<String, @Nullable MetaVictims> victims) {

    /** Without what is null in it. */
    Map<String, MetaVictims> nodes() {
        var nodes = new HashMap<String, MetaVictims>();
        if (victims != null) {
            victims.forEach((node, itsVictims) -> {
                if (itsVictims != null) {
                    nodes.put(node, itsVictims);
                }
            });
        }
        return nodes;
    }
}

package io.gpusharing.webhook.cluster;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.wire.GpuNodeStatus;
import tools.jackson.core.JsonParser;
import tools.jackson.core.util.JsonParserSequence;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.util.TokenBuffer;

/**
 * Objects without what nobody here reads, so that thousands of budgets take a third of the memory.
 * Their statuses change all the time, and are read in one pass.
 *
 * <p>What is left out is not written either: the API server keeps the managed fields of an object
 * that comes without them, and this client writes no budgets and nodes.
 */
public final class LeanObjects {

    private LeanObjects() {}

    /** What reads them. */
    public static KubernetesSerialization serialization() {
        return new KubernetesSerialization(
                ApiServerJson.mapper()
                        .addMixIn(ObjectMeta.class, OfAll.class)
                        .addMixIn(NodeStatus.class, OfNode.class)
                        .addMixIn(GpuBudgetStatus.class, OfBudget.class)
                        .addMixIn(GpuNodeStatus.class, OfGpuNode.class)
                        .addMixIn(GpuNodeStatus.Gpu.class, OfGpu.class)
                        .addMixIn(WatchEvent.class, OfWatch.class)
                        .build(),
                true);
    }

    @JsonIgnoreProperties("managedFields")
    private interface OfAll {}

    @JsonIgnoreProperties({"images", "volumesAttached", "volumesInUse"})
    private interface OfNode {}

    @JsonIgnoreProperties(
            value = {"refused", "tier"},
            ignoreUnknown = true)
    private interface OfGpuNode {}

    /** Who was given what is the scheduler's to know. */
    @JsonIncludeProperties("memoryMiB")
    private interface OfGpu {}

    /** The line is here; these are for people. */
    @JsonIgnoreProperties({
        "namespaces",
        "grantedMinutes",
        "usedMinutes",
        "remainingMinutes",
        "rateGpus",
        "problem"
    })
    private interface OfBudget {}

    interface OfWatch {

        @JsonDeserialize(using = WatchedObject.class)
        void setObject(Object object);
    }

    /**
     * Reads a budget at once. The client makes a tree of each object to find out what it is, then a
     * map of what it does not know, and an object of that last.
     */
    static final class WatchedObject extends ValueDeserializer<Object> {

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) {
            try (TokenBuffer head = context.bufferForInputBuffering(json)) {
                head.copyCurrentEvent(json);
                Class<? extends KubernetesResource> type = KubernetesResource.class;
                // An API server writes these two first; where it does not, the client finds them.
                for (String name = json.nextName();
                        "apiVersion".equals(name) || "kind".equals(name);
                        name = json.nextName()) {
                    head.copyCurrentEvent(json);
                    json.nextToken();
                    head.copyCurrentEvent(json);
                    if (name.equals("kind") && json.getString().equals(GpuBudget.KIND)) {
                        type = GpuBudget.class;
                    }
                }
                head.copyCurrentEvent(json);
                JsonParser whole =
                        JsonParserSequence.createFlattened(
                                false, head.asParser(context, json), json);
                whole.nextToken();
                return context.readValue(whole, type);
            }
        }
    }
}

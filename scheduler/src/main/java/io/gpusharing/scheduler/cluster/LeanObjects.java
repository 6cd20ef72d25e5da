package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetSpec;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetStatus;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.placement.PlacementReader;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.StdConverter;

/**
 * Pods, nodes, namespaces, PodDisruptionBudgets and GpuEvictions without what nobody here reads,
 * which is most of them: tens of thousands are remembered, and each may say a megabyte and a half.
 * This client makes none, and what it changes of a pod it names in a patch.
 */
public final class LeanObjects {

    /** Labels of a pod, or pods of a budget: several times as many as anybody needs. */
    static final int MOST = 100;

    /** As long as names of objects are at most. */
    static final int LONGEST = 253;

    /** On pods that a kubelet runs from a file. */
    public static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

    private LeanObjects() {}

    /** What reads them. */
    public static KubernetesSerialization serialization() {
        JsonMapper.Builder mapper = ApiServerJson.mapper();
        lean(mapper);
        LeanPods.follow(mapper);
        mapper.addMixIn(Node.class, OfNode.class)
                .addMixIn(NodeSpec.class, OfNodeSpec.class)
                .addMixIn(NodeStatus.class, OfNodeStatus.class)
                .addMixIn(Namespace.class, OfNamespace.class)
                .addMixIn(GpuEviction.Spec.class, OfEviction.class)
                .addMixIn(PodDisruptionBudget.class, OfBudget.class)
                .addMixIn(PodDisruptionBudgetSpec.class, OfBudgetSpec.class)
                .addMixIn(PodDisruptionBudgetStatus.class, OfBudgetStatus.class);
        return ApiServerJson.serialization(mapper.build());
    }

    /** Lets a mapper pass over the rest of a pod; its labels and annotations stay as they are. */
    public static void lean(JsonMapper.Builder mapper) {
        mapper.addMixIn(ObjectMeta.class, OfMetadata.class);
        LeanPods.lean(mapper);
    }

    @JsonIgnoreProperties("managedFields")
    private interface OfMetadata {}

    /** The entries whose keys are wanted. */
    static Map<String, String> only(Predicate<String> wanted, @Nullable Map<String, String> all) {
        var kept = new HashMap<>(requireNonNullElse(all, Map.<String, String>of()));
        kept.keySet().removeIf(wanted.negate());
        return kept;
    }

    interface OfNode {

        @JsonDeserialize(converter = NodeMetadata.class)
        void setMetadata(ObjectMeta metadata);
    }

    static final class NodeMetadata extends StdConverter<ObjectMeta, ObjectMeta> {

        @Override
        public ObjectMeta convert(ObjectMeta metadata) {
            ObjectMeta kept = identity(metadata);
            kept.setLabels(metadata.getLabels());
            kept.setAnnotations(only(PlacementReader::readsOfNode, metadata.getAnnotations()));
            return kept;
        }
    }

    @JsonIncludeProperties({"taints", "unschedulable"})
    private interface OfNodeSpec {}

    @JsonIncludeProperties({"capacity", "allocatable"})
    private interface OfNodeStatus {}

    @JsonIncludeProperties({"apiVersion", "kind", "metadata"})
    interface OfNamespace {

        @JsonDeserialize(converter = NamespaceMetadata.class)
        void setMetadata(ObjectMeta metadata);
    }

    static final class NamespaceMetadata extends StdConverter<ObjectMeta, ObjectMeta> {

        @Override
        public ObjectMeta convert(ObjectMeta metadata) {
            ObjectMeta kept = identity(metadata);
            kept.setAnnotations(
                    only(key -> key.startsWith(Names.PREFIX), metadata.getAnnotations()));
            return kept;
        }
    }

    /** Who else could have gone is for people: it is written, and not read again. */
    @JsonIgnoreProperties(value = "considered", allowGetters = true, ignoreUnknown = true)
    private interface OfEviction {}

    interface OfBudget {

        @JsonDeserialize(converter = Identity.class)
        void setMetadata(ObjectMeta metadata);
    }

    static final class Identity extends StdConverter<ObjectMeta, ObjectMeta> {

        @Override
        public ObjectMeta convert(ObjectMeta metadata) {
            return identity(metadata);
        }
    }

    /** Who an object is and which version it is, and nothing else. */
    static ObjectMeta identity(ObjectMeta metadata) {
        ObjectMeta kept =
                new ObjectMetaBuilder()
                        .withUid(metadata.getUid())
                        .withNamespace(metadata.getNamespace())
                        .withName(metadata.getName())
                        .withResourceVersion(metadata.getResourceVersion())
                        .build();
        // An empty map or list of each would be more than what is kept.
        kept.setAnnotations(null);
        kept.setLabels(null);
        kept.setFinalizers(null);
        kept.setOwnerReferences(null);
        kept.setManagedFields(null);
        kept.setAdditionalProperties(null);
        return kept;
    }

    @JsonIncludeProperties("selector")
    interface OfBudgetSpec {

        @JsonDeserialize(converter = Selector.class)
        void setSelector(LabelSelector selector);
    }

    static final class Selector extends StdConverter<LabelSelector, @Nullable LabelSelector> {

        @Override
        public @Nullable LabelSelector convert(LabelSelector selector) {
            return LabelMatch.bounded(selector);
        }
    }

    @JsonIncludeProperties({"disruptionsAllowed", "disruptedPods"})
    interface OfBudgetStatus {

        @JsonDeserialize(converter = Disrupted.class)
        void setDisruptedPods(Map<String, String> pods);
    }

    static final class Disrupted extends StdConverter<Map<String, String>, Map<String, String>> {

        /** Of a pod that is not here it is counted once more that it goes. */
        @Override
        public Map<String, String> convert(Map<String, String> pods) {
            return pods.size() <= MOST
                            && pods.keySet().stream().allMatch(it -> it.length() <= LONGEST)
                    ? pods
                    : Map.of();
        }
    }
}

package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodAffinity;
import io.fabric8.kubernetes.api.model.PodAffinityTerm;
import io.fabric8.kubernetes.api.model.PodAntiAffinity;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.TopologySpreadConstraint;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetSpec;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetStatus;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.kubernetes.SharedMemoryMounts;
import io.gpusharing.placement.PlacementReader;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import io.gpusharing.scheduler.pods.Unjudged;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    private static final int MOST = 100;

    /** As long as names of objects are at most. */
    private static final int LONGEST = 253;

    /** On pods that a kubelet runs from a file. */
    public static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

    private static final Set<String> ANNOTATIONS =
            Set.of(
                    PlacementAnnotation.KEY,
                    Names.DO_NOT_RECLAIM_ANNOTATION,
                    MIRROR_ANNOTATION,
                    Names.STRATEGY_ANNOTATION,
                    Names.SAME_GPU_ANNOTATION,
                    Names.MPS_ANNOTATION,
                    Names.BUDGET_ANNOTATION);

    private LeanObjects() {}

    /** What reads them. */
    public static KubernetesSerialization serialization() {
        JsonMapper.Builder mapper = ApiServerJson.mapper();
        lean(mapper);
        mapper.addMixIn(Pod.class, OfPod.class)
                .addMixIn(Node.class, OfNode.class)
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
        mapper.addMixIn(ObjectMeta.class, OfMetadata.class)
                .addMixIn(OwnerReference.class, OfOwner.class)
                .addMixIn(PodSpec.class, OfSpec.class)
                .addMixIn(PodAffinity.class, OfAnyPods.class)
                .addMixIn(PodAntiAffinity.class, OfAnyPods.class)
                .addMixIn(Affinity.class, OfAffinity.class)
                .addMixIn(NodeAffinity.class, OfNodeAffinity.class)
                .addMixIn(TopologySpreadConstraint.class, OfSpread.class)
                .addMixIn(PodStatus.class, OfStatus.class)
                .addMixIn(PodCondition.class, OfCondition.class)
                .addMixIn(Container.class, OfContainer.class);
    }

    @JsonIgnoreProperties("managedFields")
    private interface OfMetadata {}

    @JsonIncludeProperties({"kind", "name", "uid", "controller"})
    private interface OfOwner {}

    @JsonIncludeProperties({
        "nodeName",
        "schedulingGates",
        "schedulerName",
        "priority",
        "preemptionPolicy",
        "terminationGracePeriodSeconds",
        "containers",
        "initContainers",
        "resources",
        "overhead",
        "hostIPC",
        "nodeSelector",
        "tolerations",
        "affinity",
        "resourceClaims",
        "topologySpreadConstraints"
    })
    private interface OfSpec {}

    @JsonIncludeProperties({"nodeAffinity", "podAffinity", "podAntiAffinity"})
    private interface OfAffinity {}

    @JsonIncludeProperties("requiredDuringSchedulingIgnoredDuringExecution")
    private interface OfNodeAffinity {}

    /** Whether a pod's place depends on others is read; on which others is not. */
    @JsonIncludeProperties("requiredDuringSchedulingIgnoredDuringExecution")
    interface OfAnyPods {

        @JsonDeserialize(converter = Any.class)
        void setRequiredDuringSchedulingIgnoredDuringExecution(List<PodAffinityTerm> terms);
    }

    static final class Any extends StdConverter<List<PodAffinityTerm>, List<PodAffinityTerm>> {

        @Override
        public List<PodAffinityTerm> convert(List<PodAffinityTerm> terms) {
            return terms.isEmpty() ? List.of() : List.of(new PodAffinityTerm());
        }
    }

    @JsonIncludeProperties("whenUnsatisfiable")
    private interface OfSpread {}

    @JsonIncludeProperties({"phase", "startTime", "nominatedNodeName", "conditions"})
    interface OfStatus {

        @JsonDeserialize(converter = Conditions.class)
        void setConditions(List<PodCondition> conditions);
    }

    @JsonIncludeProperties({"type", "status", "reason", "message", "lastTransitionTime"})
    private interface OfCondition {}

    static final class Conditions extends StdConverter<List<PodCondition>, List<PodCondition>> {

        /** Whether the scheduler has found a place, and what we have said of that. */
        @Override
        public List<PodCondition> convert(List<PodCondition> conditions) {
            List<PodCondition> kept =
                    conditions.stream()
                            .filter(it ->
                                    Names.PLACEMENT_CONDITION.equals(it.getType())
                                            || "PodScheduled".equals(it.getType()))
                            .toList();
            kept.forEach(it ->
                    it.setMessage(
                            it.getMessage() == null ? null : Unjudged.inShort(it.getMessage())));
            return kept;
        }
    }

    @JsonIncludeProperties({"name", "restartPolicy", "resources", "ports", "volumeMounts"})
    interface OfContainer {

        @JsonDeserialize(using = SharedMemoryMounts.class)
        void setVolumeMounts(List<VolumeMount> mounts);
    }

    interface OfPod {

        @JsonDeserialize(converter = PodMetadata.class)
        void setMetadata(ObjectMeta metadata);

        @JsonDeserialize(converter = Constraints.class)
        void setSpec(PodSpec spec);
    }

    static final class Constraints extends StdConverter<PodSpec, PodSpec> {

        /**
         * Where a pod may run matters while it is not bound. What says more of it than anybody
         * needs is not kept, and nobody goes for that pod.
         */
        @Override
        public PodSpec convert(PodSpec spec) {
            if (spec.getNodeName() != null) {
                return with(SchedulingConstraints.NONE, spec);
            }
            try {
                return SchedulingConstraints.of(spec).size() <= SchedulingConstraints.MOST
                        ? spec
                        : with(SchedulingConstraints.TOO_MUCH, spec);
            } catch (RuntimeException e) {
                // Names without a value, which no API server stores: the list goes on.
                return with(SchedulingConstraints.TOO_MUCH, spec);
            }
        }

        private static PodSpec with(SchedulingConstraints constraints, PodSpec spec) {
            spec.setNodeSelector(constraints.selector());
            spec.setTolerations(constraints.tolerations());
            if (spec.getAffinity() != null) {
                spec.getAffinity().setNodeAffinity(null);
            }
            return spec;
        }
    }

    static final class PodMetadata extends StdConverter<ObjectMeta, ObjectMeta> {

        @Override
        public ObjectMeta convert(ObjectMeta metadata) {
            metadata.setFinalizers(List.of());
            metadata.setOwnerReferences(
                    requireNonNullElse(metadata.getOwnerReferences(), List.<OwnerReference>of())
                            .stream()
                            .filter(it -> Boolean.TRUE.equals(it.getController()))
                            .filter(it -> it.getUid() != null && it.getUid().length() <= LONGEST)
                            .toList());
            metadata.setAnnotations(
                    only(
                            key -> ANNOTATIONS.contains(key) || PlacementReader.readsOfPod(key),
                            metadata.getAnnotations()));
            // What is lost is the protection that its own namespace may give the pod: whether a
            // PodDisruptionBudget selects it, and whether it goes with its gang alone. To spare it
            // instead would let anybody spare himself by his labels.
            if (metadata.getLabels() != null && metadata.getLabels().size() > MOST) {
                metadata.setLabels(only(Names.METERED_LABEL::equals, metadata.getLabels()));
            }
            return metadata;
        }
    }

    private static Map<String, String> only(
            Predicate<String> wanted, @Nullable Map<String, String> all) {
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

package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.ObjectMeta;
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
import io.gpusharing.Names;
import io.gpusharing.kubernetes.SharedMemoryMounts;
import io.gpusharing.placement.PlacementReader;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import io.gpusharing.scheduler.pods.Disruption;
import io.gpusharing.scheduler.pods.Unjudged;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.StdConverter;

/** What is read of pods, for {@link LeanObjects}. */
final class LeanPods {

    private static final Set<String> ANNOTATIONS =
            Set.of(
                    PlacementAnnotation.KEY,
                    Names.DO_NOT_RECLAIM_ANNOTATION,
                    Names.STANDING_ANNOTATION,
                    LeanObjects.MIRROR_ANNOTATION,
                    Names.STRATEGY_ANNOTATION,
                    Names.SAME_GPU_ANNOTATION,
                    Names.MPS_ANNOTATION,
                    Names.BUDGET_ANNOTATION);

    private LeanPods() {}

    /** Has the rest of any pod passed over. */
    static void lean(JsonMapper.Builder mapper) {
        mapper.addMixIn(OwnerReference.class, OfOwner.class)
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

    /** Has less kept of pods that are followed. */
    static void follow(JsonMapper.Builder mapper) {
        mapper.addMixIn(Pod.class, OfPod.class);
    }

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

        /**
         * Whether the scheduler has found a place, what we have said of that, and who made it end.
         */
        @Override
        public List<PodCondition> convert(List<PodCondition> conditions) {
            List<PodCondition> kept =
                    conditions.stream()
                            .filter(it ->
                                    Names.PLACEMENT_CONDITION.equals(it.getType())
                                            || Disruption.CONDITION.equals(it.getType())
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
                            .filter(it ->
                                    it.getUid() != null
                                            && it.getUid().length() <= LeanObjects.LONGEST)
                            .toList());
            metadata.setAnnotations(
                    LeanObjects.only(
                            key -> ANNOTATIONS.contains(key) || PlacementReader.readsOfPod(key),
                            metadata.getAnnotations()));
            // What is lost is the protection that its own namespace may give the pod: whether a
            // PodDisruptionBudget selects it, and whether it goes with its gang alone. To spare it
            // instead would let anybody spare himself by his labels.
            if (metadata.getLabels() != null && metadata.getLabels().size() > LeanObjects.MOST) {
                metadata.setLabels(
                        LeanObjects.only(Names.METERED_LABEL::equals, metadata.getLabels()));
            }
            return metadata;
        }
    }
}

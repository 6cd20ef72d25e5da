package io.gpusharing.scheduler;

import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Strategy;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How pods are placed.
 *
 * @param name the {@code spec.schedulerName} of the pods that are placed here; empty where the
 *     cluster's own scheduler asks, and those are placed that admission has labelled
 * @param reservation how long GPUs are kept for a pod between the choice of its node and its
 *     binding, where kube-scheduler may wait for volumes; then others get them
 * @param candidates how many nodes kube-scheduler may choose from for a pod; its GPUs are kept on
 *     the best of them alone
 * @param metagpuUnits the resources of the dialect {@code metagpu} and how many units of each are a
 *     GPU; 100 of {@code cnvrg.io/metagpu} where it is not named
 * @param gangLabels keys of labels whose value names a gang in its namespace, for instance of a pod
 *     group: its pods are preempted and reclaimed together or not at all
 * @param gangOwners kinds of controllers whose pods are a gang
 * @param inBudgetPriority value of the priority class of pods in budget
 * @param overBudgetPriority value of the class of pods that were admitted over budget
 * @param strategy which of the GPUs where a pod fits it gets, if it does not say so itself
 * @param mpsAcross which pods may share a GPU by MPS, on nodes that serve it: {@code Budget},
 *     {@code Namespace} or {@code Cluster}; absent where the site has none, so that all take turns
 */
@Validated
@ConfigurationProperties("gpusharing.scheduler")
record SchedulerProperties(
        @NotNull @DefaultValue("gpusharing-scheduler") String name,
        @NotNull @DefaultValue("30s") Duration reservation,
        @Min(1) @DefaultValue("1") int candidates,
        @DefaultValue Map<String, @Min(1) Integer> metagpuUnits,
        @NotNull @DefaultValue List<String> gangLabels,
        @NotNull @DefaultValue("Job") Set<String> gangOwners,
        @DefaultValue("0") int inBudgetPriority,
        @DefaultValue("-100") int overBudgetPriority,
        @NotNull @DefaultValue("BestFit") Strategy strategy,
        Sharing.@Nullable Across mpsAcross) {}

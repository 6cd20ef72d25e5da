package io.gpusharing.wire;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.request.ContainerRequest.Kind;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a pod is, or why it waits. Processors are in hundredths of a GPU, memory is in MiB. Pods
 * that who asks may not get have neither namespace, name nor budget.
 *
 * @param asOf the cluster is seen as it was then
 * @param name absent for a new pod without one
 * @param since since when kube-scheduler has found no place for it; absent if it does not say so
 * @param summary the one sentence for a person
 * @param asks what its containers ask of GPUs that our device plugin hands out
 * @param place where it is; absent while it is nowhere
 * @param nodes all nodes in numbers; absent where it is, or asks for no GPU of ours
 * @param instead what would fit now; absent where it fits, or where that is not known
 * @param room whom it would cost; absent where it fits
 * @param end when it might get room because a budget ends; absent if none does that would help
 * @param details those nodes that fit otherwise, those with most hope first
 * @param notJudged what decides about its place and was not looked at
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Explanation(
        Instant asOf,
        String namespace,
        @Nullable String name,
        State state,
        @Nullable Instant since,
        String summary,
        List<Asked> asks,
        @Nullable Place place,
        @Nullable Nodes nodes,
        @Nullable Instead instead,
        @Nullable Room room,
        @Nullable End end,
        List<NodeDetail> details,
        List<String> notJudged) {

    /** How far a pod has come. */
    public enum State {
        /** It is not created. */
        New,
        /** Nobody has tried to place it yet. */
        NotTried,
        /** A scheduling gate keeps it back. */
        Gated,
        /** kube-scheduler has found no place for it. */
        Waits,
        /** It has a node. */
        Bound,
        /** It has run, and holds nothing any more. */
        Ended,
        /** Something in it cannot be read, so that nothing else is known of it. */
        Unreadable
    }

    /**
     * What one container asks for.
     *
     * @param gpus of how many GPUs
     * @param core of each
     * @param memoryMiB of each; 0 if it names none
     * @param memoryPercent the same in percent, where no amount is given
     * @param whole whether it wants each to itself
     */
    public record Asked(
            String container,
            Kind kind,
            int gpus,
            long core,
            long memoryMiB,
            int memoryPercent,
            boolean whole) {}

    /**
     * Where it is.
     *
     * @param gpus what it holds there; none where its node shares none
     * @param known whether somebody says on which GPUs it is; else it may be on each of these
     */
    public record Place(String node, List<Held> gpus, boolean known) {}

    /**
     * A part of a GPU.
     *
     * @param index by NVML; absent if it is not known
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Held(
            @Nullable Integer index, String uuid, long core, long memoryMiB, boolean whole) {}

    /**
     * All nodes in numbers.
     *
     * @param all of the cluster
     * @param fit where it fits as it is
     * @param otherwise where something else than GPUs keeps it away, by what that is
     * @param why where its GPUs do, by the reason as metrics name it
     * @param onlyInSum of these where the sums of the node would be enough, as kube-scheduler
     *     counts them
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Nodes(
            int all,
            int fit,
            Map<String, Integer> otherwise,
            Map<String, Integer> why,
            int onlyInSum) {}

    /**
     * What would fit now.
     *
     * @param node where
     * @param resources the limits to write instead
     */
    public record Instead(String node, String container, Map<String, Long> resources) {}

    /**
     * Whom it would cost.
     *
     * @param decision what reclaim would do now: {@code EVICT}, or why it would evict nobody
     * @param text the same in words
     * @param node where; absent if nowhere
     * @param gpus what it would have of which GPU there
     * @param victims who would go
     * @param spared why others would not, by the reason
     * @param nodesLeftOut how many nodes were not looked at for this, since there are too many
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Room(
            String decision,
            String text,
            @Nullable String node,
            List<Held> gpus,
            List<Victim> victims,
            Map<String, Integer> spared,
            int nodesLeftOut) {}

    /**
     * A pod that would go.
     *
     * @param why why this one
     * @param costMicroGpuSeconds what its run has used, which may be lost
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Victim(
            @Nullable String namespace,
            @Nullable String name,
            @Nullable String budget,
            String node,
            @Nullable String why,
            long costMicroGpuSeconds) {}

    /**
     * Room that the end of others' budgets would make.
     *
     * @param at not before then, at the present rates
     * @param text what that depends on
     */
    public record End(Instant at, String node, List<Victim> victims, String text) {}

    /**
     * A node.
     *
     * @param fits whether the pod fits on it now
     * @param reason why not, as metrics name it; absent where it fits
     * @param text the same in the words of our scheduler
     * @param sumSuffices whether the sums of the node would be enough, as kube-scheduler counts
     *     them
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record NodeDetail(
            String name,
            boolean fits,
            @Nullable String reason,
            @Nullable String text,
            boolean sumSuffices,
            List<GpuDetail> gpus) {}

    /**
     * A GPU of it.
     *
     * @param free what nobody holds; what is kept is not taken off
     * @param reason why none of the pod's containers fits on it; absent where one does
     * @param holders who has something of it
     * @param kept for whom something of it is kept
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record GpuDetail(
            @Nullable Integer index,
            String uuid,
            boolean healthy,
            Amount total,
            Amount free,
            @Nullable String reason,
            List<Holder> holders,
            List<Kept> kept) {}

    /** So much of a GPU. */
    public record Amount(long core, long memoryMiB) {}

    /**
     * Who has something of a GPU.
     *
     * @param gone whether the device plugin alone still knows it
     * @param leavesBy when it is to have ended, if it is being deleted
     * @param budgetEndsAt when its budget ends or has ended, at the present rate
     * @param mayBeEvicted whether it may be evicted once its budget is used up, by what that budget
     *     says
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Holder(
            @Nullable String namespace,
            @Nullable String name,
            long core,
            long memoryMiB,
            boolean whole,
            boolean gone,
            @Nullable Instant leavesBy,
            @Nullable Instant budgetEndsAt,
            boolean mayBeEvicted) {}

    /**
     * For whom something of a GPU is kept.
     *
     * @param yields whether the pod may have it all the same, as it is more important
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Kept(
            @Nullable String namespace,
            @Nullable String name,
            long core,
            long memoryMiB,
            boolean whole,
            Instant until,
            boolean yields) {}
}

package io.gpusharing.scheduler.explaining;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.Leftover;
import io.gpusharing.placement.NodeOccupancy;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.placement.Reason;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Strategy;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whether a pod fits on a node, and why not.
 *
 * @param otherwise what else than GPUs keeps it away, in words; null where nothing does
 * @param reason why it does not fit on the GPUs; null where it does
 * @param free what it may have of each GPU
 * @param sums whether the sums of the node would be enough
 */
record Judgement(
        Picture.State node,
        @Nullable String otherwise,
        @Nullable Reason reason,
        GpuLayout free,
        boolean sums) {

    /** Where it fits, then where least is missing. */
    static final Comparator<Judgement> MOST_HOPE_FIRST =
            Comparator.comparing(
                            Judgement::reason, Comparator.nullsFirst(Comparator.naturalOrder()))
                    .thenComparing(
                            (Judgement it) -> Leftover.part(it.free().freest()),
                            Comparator.reverseOrder())
                    .thenComparing(it -> it.node().name());

    /**
     * Judges as our scheduler does.
     *
     * @param kept what is kept for others
     */
    static Judgement of(Subject subject, Picture.State node, List<KeptRoom> kept) {
        List<ContainerAsk> asks = subject.asks();
        Amounts sum = node.freeFor(subject.waiter().pod().uid());
        boolean sums = subject.waiter().ask().requests().fitInto(sum);
        NodeOccupancy occupancy = node.occupancy();
        SharedNode shared = node.view().shared();
        if (occupancy == null || shared == null) {
            return new Judgement(
                    node,
                    otherwise(subject, node.view(), sum),
                    Reason.NOT_SHARED,
                    new GpuLayout(List.of()),
                    sums);
        }
        GpuLayout free =
                PodPlacement.admitting(asks, PodPlacement.eligible(asks, occupancy.free(kept)));
        Reason reason =
                fits(asks, free)
                        ? null
                        : Reason.of(
                                asks,
                                shared.all(),
                                occupancy.free(),
                                () -> !kept.isEmpty() && fits(asks, occupancy.free()));
        String otherwise = otherwise(subject, node.view(), sum);
        // kube-scheduler counts what is asked for on a GPU that failed since, too.
        return new Judgement(
                node,
                otherwise == null && reason == null
                        ? missing(subject.waiter().ask().requests(), sum)
                        : otherwise,
                reason,
                free,
                sums);
    }

    boolean fits() {
        return otherwise == null && reason == null;
    }

    /** Whether a strategy finds a place, which each does where another does. */
    private static boolean fits(List<ContainerAsk> asks, GpuLayout free) {
        return Leftover.of(asks, free, Strategy.BestFit).isPresent();
    }

    private static @Nullable String otherwise(Subject subject, NodeView node, Amounts sum) {
        if (!subject.waiter().constraints().admit(node)) {
            return "its selector, affinity or a taint keeps it away";
        }
        return missing(subject.others(), sum);
    }

    private static @Nullable String missing(Amounts wanted, Amounts sum) {
        if (wanted.fitInto(sum)) {
            return null;
        }
        return wanted.byResource().entrySet().stream()
                .filter(it -> !new Amounts(Map.of(it.getKey(), it.getValue())).fitInto(sum))
                .map(Map.Entry::getKey)
                .sorted()
                .collect(Collectors.joining(", ", "too little is free of ", ""));
    }

    /**
     * Why none of the containers fits on one GPU of the node; null where one does.
     *
     * @param empty the GPU, as if nobody held any of it
     * @param now what is free of it, also what is kept
     */
    @Nullable Reason reasonOf(List<ContainerAsk> asks, Gpu empty, @Nullable Gpu now) {
        var all = new GpuLayout(List.of(empty));
        Reason worst = null;
        for (ContainerAsk ask : asks) {
            List<ContainerAsk> one = List.of(Suggestion.withCount(ask, 1));
            GpuLayout own =
                    new GpuLayout(
                            free.gpus().stream()
                                    .filter(gpu -> gpu.id().equals(empty.id()))
                                    .toList());
            if (fits(one, own)) {
                return null;
            }
            worst =
                    Reason.of(
                            one,
                            all,
                            new GpuLayout(now == null ? List.of() : List.of(now)),
                            () -> now != null && fits(one, new GpuLayout(List.of(now))));
        }
        return worst;
    }
}

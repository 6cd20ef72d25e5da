package io.gpusharing.scheduler.explaining;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.NodeOccupancy;
import io.gpusharing.placement.Reason;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.Amount;
import io.gpusharing.wire.Explanation.GpuDetail;
import io.gpusharing.wire.Explanation.Kept;
import io.gpusharing.wire.Explanation.NodeDetail;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One node with its GPUs, as one pod would find them. */
final class NodeDetails {

    private final Picture picture;
    private final Subject subject;
    private final Predicate<String> shown;

    /**
     * @param shown namespaces whose pods may be named
     */
    NodeDetails(Picture picture, Subject subject, Predicate<String> shown) {
        this.picture = picture;
        this.subject = subject;
        this.shown = shown;
    }

    NodeDetail of(Judgement judgement) {
        Reason reason = judgement.reason();
        SharedNode shared = judgement.node().view().shared();
        NodeOccupancy occupancy = judgement.node().occupancy();
        return new NodeDetail(
                judgement.node().name(),
                judgement.fits(),
                reason == null ? null : reason.name().toLowerCase(Locale.ROOT),
                reason == null ? null : reason.text(subject.asks()),
                judgement.sums(),
                shared == null || occupancy == null
                        ? List.of()
                        : shared.all().gpus().stream()
                                .map(gpu -> gpu(judgement, shared, occupancy, gpu))
                                .toList());
    }

    private GpuDetail gpu(
            Judgement judgement, SharedNode shared, NodeOccupancy occupancy, Gpu empty) {
        Optional<Gpu> now =
                occupancy.free().gpus().stream()
                        .filter(gpu -> gpu.id().equals(empty.id()))
                        .findFirst();
        Reason reason = judgement.reasonOf(subject.asks(), empty, now.orElse(null));
        return new GpuDetail(
                shared.indexes().get(empty.id()),
                empty.id(),
                now.isPresent(),
                new Amount(empty.cores(), empty.memory()),
                now.map(gpu -> new Amount(gpu.cores(), gpu.memory())).orElse(new Amount(0, 0)),
                reason == null ? null : reason.name().toLowerCase(Locale.ROOT),
                holders(judgement.node(), occupancy, empty.id()),
                kept(judgement.node(), empty.id()));
    }

    private List<Explanation.Holder> holders(
            Picture.State node, NodeOccupancy occupancy, String gpu) {
        Map<String, Holder> pods = new HashMap<>();
        node.pods().forEach(pod -> pods.put(pod.pod().uid(), pod));
        var holders = new ArrayList<Explanation.Holder>();
        new TreeMap<>(occupancy.holds())
                .forEach((uid, holds) ->
                        holds.stream()
                                .filter(hold -> hold.gpu().equals(gpu))
                                .forEach(hold -> holders.add(holder(pods.get(uid), hold))));
        return holders;
    }

    private Explanation.Holder holder(@Nullable Holder pod, GpuHold hold) {
        if (pod == null) {
            return new Explanation.Holder(
                    null, null, hold.cores(), hold.memory(), hold.whole(), true, null, null, false);
        }
        boolean named = shown.test(pod.pod().namespace());
        BudgetAccount budget = picture.snapshot().budgetOf(pod.pod());
        return new Explanation.Holder(
                named ? pod.pod().namespace() : null,
                named ? pod.pod().name() : null,
                hold.cores(),
                hold.memory(),
                hold.whole(),
                false,
                pod.end(),
                // To the second it would say which pods are of one budget.
                named && budget != null ? budget.exhaustedAt() : null,
                budget != null
                        && budget.onExhausted().allowsEviction(pod.lowered())
                        && !budget.paused()
                        && pod.exemption() == null);
    }

    private List<Kept> kept(Picture.State node, String gpu) {
        Map<String, PodRef> waiting = new HashMap<>();
        picture.snapshot().waiters().forEach(it -> waiting.put(it.pod().uid(), it.pod()));
        List<KeptRoom> against = node.view().keptFrom(subject.waiter());
        var kept = new ArrayList<Kept>();
        for (KeptRoom room : node.view().kept()) {
            PodRef pod = waiting.get(room.podUid());
            PodRef named = pod != null && shown.test(pod.namespace()) ? pod : null;
            room.held().stream()
                    .filter(hold -> hold.gpu().equals(gpu))
                    .forEach(hold ->
                            kept.add(
                                    new Kept(
                                            named == null ? null : named.namespace(),
                                            named == null ? null : named.name(),
                                            hold.cores(),
                                            hold.memory(),
                                            hold.whole(),
                                            room.until(),
                                            !against.contains(room))));
        }
        return kept;
    }
}

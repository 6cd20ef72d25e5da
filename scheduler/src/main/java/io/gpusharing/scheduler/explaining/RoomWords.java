package io.gpusharing.scheduler.explaining;

import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Spared;
import io.gpusharing.wire.Explanation.End;
import io.gpusharing.wire.Explanation.Held;
import io.gpusharing.wire.Explanation.Room;
import io.gpusharing.wire.Explanation.Victim;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Says what reclaim would do, to somebody who may see the pods of some namespaces. */
final class RoomWords {

    private final Picture picture;
    private final Predicate<String> shown;

    /**
     * @param shown namespaces whose pods may be named
     */
    RoomWords(Picture picture, Predicate<String> shown) {
        this.picture = picture;
        this.shown = shown;
    }

    /**
     * What would be done now.
     *
     * @param leftOut how many nodes were not looked at
     */
    Room room(Decision decision, int leftOut) {
        return switch (decision) {
            case Evict evict ->
                    new Room(
                            "EVICT",
                            "reclaim would evict %d pod(s) of budgets that are used up from %s for it"
                                    .formatted(evict.victims().size(), evict.node()),
                            evict.node(),
                            gpus(evict),
                            victims(evict),
                            spared(evict.considered()),
                            leftOut);
            case Leave leave ->
                    new Room(
                            leave.reason().name(),
                            text(leave),
                            leave.node(),
                            List.of(),
                            List.of(),
                            spared(leave.considered()),
                            leftOut);
        };
    }

    /** Its own words, but for those that name pods. */
    private static String text(Leave leave) {
        return leave.reason() == Decision.Reason.KEPT
                ? "it would fit on %s without pods that may not go now: a PodDisruptionBudget keeps them, or their eviction was refused"
                        .formatted(leave.node())
                : leave.detail();
    }

    /** What would be done when a budget ends. */
    End end(RoomPlan.Later later) {
        return new End(
                later.at(),
                later.plan().node(),
                victims(later.plan()),
                "reclaim might evict %d pod(s) from %s then, if budgets are used at the present rates, nobody gets time until then, its own budget has some left, and nobody more important comes; they have their grace to end"
                        .formatted(later.plan().victims().size(), later.plan().node()));
    }

    private List<Held> gpus(Evict plan) {
        return picture.node(plan.node())
                .map(node -> node.view().shared())
                .map(shared -> plan.gpus().stream().map(hold -> held(shared, hold)).toList())
                .orElse(List.of());
    }

    /** What a pod holds of a node's GPU. */
    static Held held(SharedNode node, GpuHold hold) {
        return new Held(
                node.indexes().get(hold.gpu()),
                hold.gpu(),
                hold.cores(),
                hold.memory(),
                hold.whole());
    }

    private List<Victim> victims(Evict plan) {
        return plan.victims().stream()
                .map(it ->
                        shown.test(it.pod().namespace())
                                ? new Victim(
                                        it.pod().namespace(),
                                        it.pod().name(),
                                        it.budget(),
                                        it.node(),
                                        it.why(),
                                        it.cost())
                                : new Victim(null, null, null, it.node(), null, it.cost()))
                .toList();
    }

    private Map<String, Integer> spared(List<Candidate> considered) {
        return MostFrequent.of(
                considered.stream()
                        .flatMap(
                                it -> Stream.ofNullable(it.spared()).map(spared -> why(it, spared)))
                        .toList());
    }

    /**
     * Names and instants are for those who may see the pod. Whether they may is asked only where it
     * matters: each namespace may cost a question to the API server.
     */
    private String why(Candidate candidate, Spared spared) {
        return spared.words().equals(spared.kind()) || shown.test(candidate.pod().namespace())
                ? spared.words()
                : spared.kind();
    }
}

package io.gpusharing.scheduler.explaining;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.NodeOccupancy;
import io.gpusharing.placement.Reason;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.placement.Shortage;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.Waiter;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.Asked;
import io.gpusharing.wire.Explanation.End;
import io.gpusharing.wire.Explanation.Held;
import io.gpusharing.wire.Explanation.Instead;
import io.gpusharing.wire.Explanation.Nodes;
import io.gpusharing.wire.Explanation.Place;
import io.gpusharing.wire.Explanation.Room;
import io.gpusharing.wire.Explanation.State;
import io.gpusharing.wire.Explanation.Victim;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Says why one pod waits, to somebody who may see the pods of some namespaces. */
public final class Explainer {

    /** Of reasons why pods are spared. */
    private static final int MOST_REASONS = 10;

    private final Picture picture;
    private final Rules rules;
    private final Function<String, List<Holder>> nodePods;
    private final Map<String, Boolean> known = new HashMap<>();
    private final Predicate<String> shown;

    /**
     * @param rules of reclaim
     * @param nodePods all pods of a node, also those without a GPU
     * @param shown namespaces whose pods may be named
     */
    public Explainer(
            Picture picture,
            Rules rules,
            Function<String, List<Holder>> nodePods,
            Predicate<String> shown) {
        this.picture = picture;
        this.rules = rules;
        this.nodePods = nodePods;
        this.shown = namespace -> known.computeIfAbsent(namespace, shown::test);
    }

    /**
     * Explains it.
     *
     * @param detailed how many nodes are shown with their GPUs at most
     */
    public Explanation explain(Subject subject, int detailed) {
        if (subject.state() == State.Ended) {
            return answer(subject, "It has ended, and holds nothing", null);
        }
        if (subject.asks().isEmpty()) {
            return answer(
                    subject,
                    "It asks for no GPU that GPUSharing places: no container has a limit that our device plugin offers",
                    null);
        }
        return subject.node() == null ? waiting(subject, detailed) : bound(subject, subject.node());
    }

    private Explanation bound(Subject subject, String node) {
        SharedNode shared = picture.node(node).map(it -> it.view().shared()).orElse(null);
        if (shared == null) {
            return answer(
                    subject,
                    "It is bound to %s, whose GPUs are not shared by GPUSharing".formatted(node),
                    new Place(node, List.of(), false));
        }
        String uid = subject.waiter().pod().uid();
        boolean isKnown =
                shared.granted().containsKey(uid) || SharedNode.isPlaced(subject.placed());
        List<Held> held =
                shared.held(uid, subject.placed()).stream()
                        .map(hold -> held(shared, hold))
                        .sorted(Comparator.comparing(Held::uuid))
                        .toList();
        String where =
                held.stream()
                        .map(it ->
                                it.whole()
                                        ? "all of " + name(it)
                                        : "%d of 100 and %d MiB of %s"
                                                .formatted(it.core(), it.memoryMiB(), name(it)))
                        .collect(joining(", "));
        return answer(
                subject,
                isKnown
                        ? "It is bound to %s and has %s".formatted(node, where)
                        : "It is bound to %s, and nobody says on which of its GPUs".formatted(node),
                new Place(node, held, isKnown));
    }

    private static String name(Held held) {
        return held.index() == null
                ? held.uuid()
                : "GPU %d (%s)".formatted(held.index(), held.uuid());
    }

    private static Held held(SharedNode node, GpuHold hold) {
        return new Held(
                node.indexes().get(hold.gpu()),
                hold.gpu(),
                hold.cores(),
                hold.memory(),
                hold.whole());
    }

    private Explanation waiting(Subject subject, int detailed) {
        Waiter waiter = subject.waiter();
        Map<String, List<KeptRoom>> kept = picture.keptFrom(waiter.pod().uid(), waiter.priority());
        var all = new ArrayList<Judgement>();
        for (Picture.State node : picture.nodes()) {
            all.add(Judgement.of(subject, node, kept.getOrDefault(node.name(), List.of())));
        }
        List<Judgement> candidates =
                all.stream()
                        .filter(it -> it.otherwise() == null)
                        .sorted(Judgement.MOST_HOPE_FIRST)
                        .toList();
        boolean fits = !candidates.isEmpty() && candidates.getFirst().fits();
        RoomPlan plan =
                new RoomPlan(
                        picture,
                        rules,
                        waiter,
                        // Where only CPU or memory is short it may be free once others go.
                        Stream.concat(
                                        candidates.stream(),
                                        all.stream().filter(it -> it.otherwise() != null))
                                .map(Judgement::node)
                                .filter(it -> waiter.constraints().admit(it.view()))
                                .toList(),
                        nodePods);
        Instead instead = fits ? null : Suggestion.of(subject, candidates).orElse(null);
        Decision now = fits ? null : plan.now();
        Room room = now == null ? null : room(now, plan.leftOut());
        End end = now instanceof Leave ? plan.later().map(this::end).orElse(null) : null;
        return new Explanation(
                picture.snapshot().now(),
                waiter.pod().namespace(),
                waiter.pod().name().isEmpty() ? null : waiter.pod().name(),
                subject.state(),
                since(subject),
                sentence(
                        Stream.of(
                                        gate(subject),
                                        fits
                                                ? fitting(subject, candidates)
                                                : shortage(subject, all, candidates),
                                        instead == null ? "" : words(instead),
                                        room == null || room.victims().isEmpty() ? "" : room.text(),
                                        end == null
                                                ? ""
                                                : "not before %s a budget's end may make room on %s"
                                                        .formatted(end.at(), end.node()))
                                .filter(part -> !part.isEmpty())
                                .collect(joining("; "))),
                asked(subject),
                null,
                counts(all, candidates),
                instead,
                room,
                end,
                candidates.stream()
                        .limit(detailed)
                        .map(it -> new NodeDetails(picture, subject, this.shown).of(it))
                        .toList(),
                subject.notJudged());
    }

    private Explanation answer(Subject subject, String summary, @Nullable Place place) {
        PodRef pod = subject.waiter().pod();
        return new Explanation(
                picture.snapshot().now(),
                pod.namespace(),
                pod.name().isEmpty() ? null : pod.name(),
                subject.state(),
                since(subject),
                sentence(summary),
                asked(subject),
                place,
                null,
                null,
                null,
                null,
                List.of(),
                List.of());
    }

    private static @Nullable Instant since(Subject subject) {
        return subject.state() == State.Waits ? subject.waiter().since() : null;
    }

    private static List<Asked> asked(Subject subject) {
        return subject.asks().stream()
                .map(it ->
                        new Asked(
                                it.container(),
                                it.kind(),
                                it.ask().count(),
                                it.ask().cores(),
                                it.ask().memory(),
                                it.ask().memoryPercent(),
                                it.ask().whole()))
                .toList();
    }

    private static String sentence(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1) + ".";
    }

    private static String gate(Subject subject) {
        return subject.state() == State.Gated
                ? "a scheduling gate keeps it back, and nobody tries to place it"
                : "";
    }

    private static String fitting(Subject subject, List<Judgement> candidates) {
        String where =
                "it fits on %s as it is%s"
                        .formatted(
                                candidates.getFirst().node().name(),
                                subject.notJudged().isEmpty() ? "" : ", as far as is judged here");
        return subject.state() == State.Waits
                ? where + ", and is tried again within minutes"
                : where;
    }

    /** In the words of the condition that our scheduler writes. */
    private static String shortage(
            Subject subject, List<Judgement> all, List<Judgement> candidates) {
        if (candidates.isEmpty()) {
            return all.isEmpty()
                    ? "the cluster has no nodes"
                    : "no node fits otherwise: "
                            + byText(all).entrySet().stream()
                                    .map(it -> "%d: %s".formatted(it.getValue(), it.getKey()))
                                    .collect(joining("; "));
        }
        Set<Reason> reasons = candidates.stream().map(Judgement::reason).collect(toSet());
        if (reasons.equals(Set.of(Reason.NOT_SHARED))) {
            return "no node that fits otherwise has GPUs that GPUSharing shares";
        }
        return Shortage.of(
                        reasons,
                        candidates.stream()
                                .filter(it -> it.reason() != Reason.NOT_SHARED)
                                .filter(it -> it.reason() != Reason.ELSEWHERE)
                                .map(it -> shortage(subject, it))
                                .toList())
                .text(subject.asks());
    }

    private static Shortage.Node shortage(Subject subject, Judgement it) {
        NodeOccupancy occupancy = it.node().occupancy();
        SharedNode shared = it.node().view().shared();
        return occupancy == null || shared == null
                ? new Shortage.Node(it.node().name(), new GpuLayout(List.of()), 0, 0)
                : Shortage.Node.of(
                        it.node().name(), subject.asks(), occupancy.free(), shared.all());
    }

    private static Map<String, Integer> byText(List<Judgement> nodes) {
        return counted(
                nodes.stream().map(Judgement::otherwise).flatMap(Stream::ofNullable).toList());
    }

    private static String words(Instead instead) {
        return "what fits now, on %s: %s"
                .formatted(
                        instead.node(),
                        instead.resources().entrySet().stream()
                                .map(it -> it.getKey() + ": " + it.getValue())
                                .collect(joining(" and ")));
    }

    private static Nodes counts(List<Judgement> all, List<Judgement> candidates) {
        return new Nodes(
                all.size(),
                (int) candidates.stream().filter(Judgement::fits).count(),
                byText(all),
                counted(
                        candidates.stream()
                                .map(Judgement::reason)
                                .flatMap(Stream::ofNullable)
                                .map(reason -> reason.name().toLowerCase(Locale.ROOT))
                                .toList()),
                (int)
                        candidates.stream()
                                .filter(it -> !it.fits() && it.sums())
                                .filter(it -> it.reason() != Reason.ELSEWHERE)
                                .count());
    }

    /** The most frequent first. */
    private static Map<String, Integer> counted(Collection<String> texts) {
        var counts = new LinkedHashMap<String, Integer>();
        texts.stream().collect(groupingBy(it -> it, TreeMap::new, counting())).entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(MOST_REASONS)
                .forEach(it -> counts.put(it.getKey(), Math.toIntExact(it.getValue())));
        return counts;
    }

    private Room room(Decision decision, int leftOut) {
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

    private End end(RoomPlan.Later later) {
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
        return counted(
                considered.stream().filter(it -> it.spared() != null).map(this::why).toList());
    }

    /** Some of these texts name what is in the pod's namespace. */
    private String why(Candidate candidate) {
        String why = String.valueOf(candidate.why());
        String namespace = candidate.pod().namespace();
        return why.contains(namespace + "/") && !shown.test(namespace)
                ? "a PodDisruptionBudget or another pod of its gang keeps it"
                : why;
    }
}

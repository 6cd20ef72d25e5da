package io.gpusharing.scheduler.explaining;

import static java.util.stream.Collectors.joining;

import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.Asked;
import io.gpusharing.wire.Explanation.End;
import io.gpusharing.wire.Explanation.Held;
import io.gpusharing.wire.Explanation.Instead;
import io.gpusharing.wire.Explanation.Place;
import io.gpusharing.wire.Explanation.Room;
import io.gpusharing.wire.Explanation.State;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Says why one pod waits, to somebody who may see the pods of some namespaces. */
public final class Explainer {

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
                    "It is bound to %s, whose GPUs are not shared by GPUSharing".formatted(node)
                            + taken(subject, node),
                    new Place(node, List.of(), false));
        }
        String uid = subject.waiter().pod().uid();
        boolean isKnown =
                shared.granted().containsKey(uid) || SharedNode.isPlaced(subject.placed());
        List<Held> held =
                shared.held(uid, subject.placed()).stream()
                        .map(hold -> RoomWords.held(shared, hold))
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
                (isKnown
                                ? "It is bound to %s and has %s".formatted(node, where)
                                : "It is bound to %s, and nobody says on which of its GPUs"
                                        .formatted(node))
                        + taken(subject, node),
                new Place(node, held, isKnown));
    }

    /** For whom reclaim would evict it; empty if for nobody who waits. */
    private String taken(Subject subject, String node) {
        return Beneficiary.of(picture, rules, subject.waiter().pod(), node, nodePods)
                .map(waiter ->
                        "; its budget is used up, and reclaim would evict it for %s, which waits"
                                .formatted(
                                        shown.test(waiter.namespace())
                                                ? waiter.namespace() + "/" + waiter.name()
                                                : "a pod of another namespace"))
                .orElse("");
    }

    private static String name(Held held) {
        return held.index() == null
                ? held.uuid()
                : "GPU %d (%s)".formatted(held.index(), held.uuid());
    }

    private Explanation waiting(Subject subject, int detailed) {
        Waiter waiter = subject.waiter();
        NodesInSum nodes = NodesInSum.of(subject, picture);
        boolean fits = nodes.fits();
        var plan = new RoomPlan(picture, rules, waiter, nodes.admitting(), nodePods);
        var words = new RoomWords(picture, shown);
        Instead instead = fits ? null : Suggestion.of(subject, nodes.candidates()).orElse(null);
        Decision now = fits ? null : plan.now();
        Room room = now == null ? null : words.room(now, plan.leftOut());
        End end = now instanceof Leave ? plan.later().map(words::end).orElse(null) : null;
        return new Explanation(
                picture.snapshot().now(),
                waiter.pod().namespace(),
                waiter.pod().name().isEmpty() ? null : waiter.pod().name(),
                subject.state(),
                since(subject),
                sentence(
                        Stream.of(
                                        gate(subject),
                                        misdirected(subject),
                                        nodes.words(),
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
                nodes.counts(),
                instead,
                room,
                end,
                nodes.candidates().stream()
                        .limit(detailed)
                        .map(it -> new NodeDetails(picture, subject, shown).of(it))
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

    /** Of one that is not there yet admission may still change that. */
    private String misdirected(Subject subject) {
        return subject.state() != State.New && picture.offers().areMissedBy(subject.waiter())
                ? "it was admitted before GPUSharing's scheduler was given such pods, and waits for the cluster's own, which goes by sums and may bind it where no single GPU has room: it is to be deleted and made anew"
                : "";
    }

    private static String words(Instead instead) {
        return "what fits now, on %s: %s"
                .formatted(
                        instead.node(),
                        instead.resources().entrySet().stream()
                                .map(it -> it.getKey() + ": " + it.getValue())
                                .collect(joining(" and ")));
    }
}

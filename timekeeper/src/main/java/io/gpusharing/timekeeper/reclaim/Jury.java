package io.gpusharing.timekeeper.reclaim;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.gpusharing.timekeeper.reclaim.Decision.Candidate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who may be evicted for one waiter, and why the others may not. */
final class Jury {

    private final Scene scene;
    private final Rules rules;
    private final String forBudget;

    Jury(Scene scene, Rules rules, Waiter waiter) {
        this.scene = scene;
        this.rules = rules;
        this.forBudget = scene.budgetName(waiter.pod());
    }

    /** Every pod with a GPU that is not leaving yet, in the order of nodes and pods. */
    List<Candidate> candidates() {
        Map<String, List<Holder>> gangs = gangs();
        return holders().stream()
                .map(holder ->
                        new Candidate(
                                holder.pod(),
                                holder.node(),
                                name(scene.budgetOf(holder.pod())),
                                why(holder, gangs)))
                .toList();
    }

    private @Nullable String why(Holder holder, Map<String, List<Holder>> gangs) {
        String spared = spared(holder, gangs);
        return spared == null ? Guards.keeping(holder, scene).orElse(null) : spared;
    }

    /**
     * Gangs that may be evicted as far as the rules go, in the order in which they would go. A
     * PodDisruptionBudget may still keep them.
     */
    List<Gang> eligible() {
        var eligible = new ArrayList<Gang>();
        gangs().forEach((key, pods) -> {
            Payer budget = scene.budgetOf(pods.getFirst().pod());
            Instant since = since(pods);
            if (budget != null && pods.stream().allMatch(it -> spared(it, since) == null)) {
                eligible.add(new Gang(key, budget, pods));
            }
        });
        eligible.sort(Gang.WHO_GOES_FIRST);
        return eligible;
    }

    private List<Holder> holders() {
        return scene.holders().stream().filter(it -> it.hasGpu() && !it.leaving()).toList();
    }

    private Map<String, List<Holder>> gangs() {
        return holders().stream().collect(groupingBy(Holder::gang, LinkedHashMap::new, toList()));
    }

    private @Nullable String spared(Holder holder, Map<String, List<Holder>> gangs) {
        List<Holder> members = gangs.getOrDefault(holder.gang(), List.of(holder));
        Instant since = since(members);
        String own = spared(holder, since);
        if (own != null) {
            return own;
        }
        return members.stream()
                .filter(member -> spared(member, since) != null)
                .findFirst()
                .map(member ->
                        "goes only together with %s, which stays: %s"
                                .formatted(member.pod(), spared(member, since)))
                .orElse(null);
    }

    /** Since when a gang runs: a job that starts a new pod now and then is not young for ever. */
    private static Instant since(List<Holder> gang) {
        return gang.stream().map(Holder::since).min(Comparator.naturalOrder()).orElseThrow();
    }

    /**
     * @param since since when its gang runs
     */
    private @Nullable String spared(Holder holder, Instant since) {
        if (holder.exemption() != null) {
            return holder.exemption();
        }
        Payer budget = scene.budgetOf(holder.pod());
        if (budget == null) {
            return "no budget limits it";
        }
        if (!budget.isOver()) {
            return "its budget is " + budget.standing().word();
        }
        if (!budget.allowsEviction()) {
            return "its budget says onExhausted: " + budget.onExhausted();
        }
        if (budget.paused()) {
            return "reclaim is paused for its budget";
        }
        Instant mayGo = since.plus(budget.minimumRun());
        if (scene.now().isBefore(mayGo)) {
            return "its minimum run time ends at " + mayGo;
        }
        if (scene.past().stream().anyMatch(it -> wouldReturn(it, budget.name()))) {
            return "room was made for its budget by evicting the waiter's, less than %s ago"
                    .formatted(rules.noReturn());
        }
        return null;
    }

    private boolean wouldReturn(PastEviction earlier, String victimBudget) {
        return earlier.waiterBudget().equals(victimBudget)
                && earlier.victimBudget().equals(forBudget)
                && earlier.at().plus(rules.noReturn()).isAfter(scene.now());
    }

    private static @Nullable String name(@Nullable Payer budget) {
        return budget == null ? null : budget.name();
    }
}

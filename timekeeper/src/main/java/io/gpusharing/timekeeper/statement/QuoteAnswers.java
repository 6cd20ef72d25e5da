package io.gpusharing.timekeeper.statement;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.budget.Quote;
import io.gpusharing.budget.Quote.Payer;
import io.gpusharing.budget.Quote.Rate;
import io.gpusharing.budget.Quote.Work;
import io.gpusharing.budget.RateRule;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.Replicas;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFact;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.GpuNodes;
import io.gpusharing.timekeeper.ledger.posting.ModelWeights;
import io.gpusharing.web.Caller;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/** Says what new pods would cost, by the rules by which the ledger charges them. */
@Component
public class QuoteAnswers {

    private final NewPods pods;
    private final RequestGrammars grammars;
    private final Budgets budgets;
    private final ModelWeights weights;
    private final GpuNodes nodes;
    private final Clock clock;

    QuoteAnswers(
            NewPods pods,
            RequestGrammars grammars,
            Budgets budgets,
            ModelWeights weights,
            GpuNodes nodes,
            Clock clock) {
        this.pods = pods;
        this.grammars = grammars;
        this.budgets = budgets;
        this.weights = weights;
        this.nodes = nodes;
        this.clock = clock;
    }

    /**
     * Quotes pods to who may create them in the namespace.
     *
     * @param json one of them: a Pod, as the API server admits it
     * @param replicas how many they are, and how long they may run together; how long each of them
     *     may, the pod itself says
     * @param each how long each pod runs, for instance {@code 3h}; null for as long as it may
     */
    public Quote of(
            String namespace,
            String json,
            Replicas replicas,
            @Nullable String each,
            Caller caller) {
        pods.requireMayCreatePods(namespace, caller);
        Duration length = legal(() -> each == null ? null : Quote.length(each));
        return pods.answer(() -> {
            Pod pod = pods.pod(json, namespace);
            return legal(() -> quote(namespace, pod, replicas.of(pod).work(length)));
        });
    }

    private Quote quote(String namespace, Pod pod, Work work) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        PodFacts facts = new PodReader(grammars::reads).read(pod);
        RateRule rule = budgets.rule(namespace);
        Set<String> notKnown = new LinkedHashSet<>();
        if (!pod.getSpec().getResourceClaims().isEmpty()) {
            notKnown.add("what it gets by resource claims is not in the price");
        }
        var rates = new ArrayList<Rate>();
        for (NodeFacts node : offering(facts, pod.getSpec(), notKnown)) {
            rate(facts, node, rule, now, notKnown).ifPresent(rates::add);
        }
        Payer payer =
                budgets.ofNamespace(namespace)
                        .map(it -> new Payer(it.name(), it.spec(), it.line()))
                        .orElse(null);
        return Quote.of(work, rates, payer, now, List.copyOf(notKnown));
    }

    private Optional<Rate> rate(
            PodFacts pod, NodeFacts node, RateRule rule, Instant now, Set<String> notKnown) {
        Optional<BoundShare> asked = pod.asked(node, grammars);
        return asked.map(held -> {
            Weight weight = weights.all().at(now, node);
            if (!weight.known()) {
                notKnown.add(
                        "%s has no weight, and the usual one stands in"
                                .formatted(
                                        weight.model() == null ? "a GPU model" : weight.model()));
            }
            held.missing().stream().map(NodeFact::reason).forEach(notKnown::add);
            return new Rate(weight.model(), rule.on(node).rate(held.share(), weight.millionths()));
        });
    }

    /**
     * Nodes that it selects and that have all resources of which it asks for some, or one of which
     * nothing is known.
     */
    private Set<NodeFacts> offering(PodFacts pod, PodSpec spec, Set<String> notKnown) {
        Map<String, String> selected = requireNonNullElse(spec.getNodeSelector(), Map.of());
        Set<String> resources =
                pod.request().containers().stream()
                        .flatMap(it -> it.limits().keySet().stream())
                        .filter(grammars::reads)
                        .collect(Collectors.toSet());
        if (!resources.isEmpty()
                && spec.getAffinity() != null
                && spec.getAffinity().getNodeAffinity() != null) {
            notKnown.add(
                    "its node affinity is not looked at, and nodes that it excludes are priced");
        }
        Set<NodeFacts> found =
                nodes.nodes().stream()
                        .filter(node -> node.labels().entrySet().containsAll(selected.entrySet()))
                        .filter(node ->
                                resources.stream().allMatch(it -> node.units(it).isPresent()))
                        .collect(Collectors.toCollection(LinkedHashSet::new));
        if (!found.isEmpty()) {
            return found;
        }
        if (!resources.isEmpty()) {
            notKnown.add("no node that it selects has all that it asks for now");
        }
        return Set.of(NodeFacts.UNKNOWN);
    }

    /** What somebody writes that is not legal. */
    private static <T extends @Nullable Object> T legal(Reading<T> reading) {
        try {
            return reading.read();
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT, String.valueOf(e.getMessage()), e);
        }
    }

    @FunctionalInterface
    private interface Reading<T extends @Nullable Object> {
        T read();
    }
}

package io.gpusharing.recount;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Which budget paid for a namespace and when, from the {@code GpuBudget} objects that the API
 * server answered with: of those that name it, the one that was created first, or the first by
 * name.
 */
public final class Payers {

    /** In place of a name where no budget names the namespace. */
    private static final String NOBODY = "";

    /** A change reaches the timekeeper after it was made; by then, either may have paid. */
    private static final Duration TOLD_WITHIN = Duration.ofMinutes(1);

    private final List<Named> all = new ArrayList<>();
    private final Map<String, Instant> unknownBefore = new HashMap<>();
    private final Set<String> byDefault = new HashSet<>();
    private final Map<String, Map<String, Turn>> known = new HashMap<>();

    /**
     * What a budget named from an instant on.
     *
     * @param created when the budget was
     * @param namespaces none from its deletion on
     */
    private record Named(
            String budget,
            String uid,
            long generation,
            Instant created,
            Instant since,
            Set<String> namespaces) {

        private static final Comparator<Named> SENIORITY =
                Comparator.comparing(Named::created).thenComparing(Named::budget);
    }

    /**
     * Who a pod was charged to in a span.
     *
     * @param budget empty if nobody pays
     */
    public record Paid(String budget, Instant from, Instant to) {}

    /** From when to when a change could be seen. */
    private record Turn(Instant from, Instant to) {

        static Turn of(Instant from, Instant to) {
            return new Turn(
                    from.equals(Instant.MIN) ? from : from.minus(TOLD_WITHIN),
                    to.equals(Instant.MAX) ? to : to.plus(TOLD_WITHIN));
        }

        /** Both, and what lies between. */
        Turn and(Turn later) {
            return new Turn(from, later.to);
        }
    }

    /** What the log says of that. */
    sealed interface Answer {

        /** It was so. */
        record Right() implements Answer {}

        /** The log does not show all budgets that matter from the pod's begin on. */
        record Unknown() implements Answer {}

        /** The budget had the namespace, but at another time; nobody may have run to see that. */
        record Otherwhen(Paid paid) implements Answer {}

        /** It never had it. */
        record Wrong(Paid paid) implements Answer {}
    }

    /**
     * Takes what the API server answered about budgets, in the order of the log. A deletion is
     * answered with a status, and that of many with all that are gone.
     */
    void take(JsonNode event, Instant at) {
        String verb = event.path("verb").asString("");
        JsonNode answer = event.path("responseObject");
        if (verb.equals("delete") && answer.path("kind").asString("").equals("Status")) {
            String name = event.at("/objectRef/name").asString("");
            deleted(name, answer.at("/details/uid").asString(""), at);
        } else if (answer.has("items")) {
            for (JsonNode item : answer.path("items")) {
                note(item, at);
                if (verb.equals("deletecollection")) {
                    JsonNode meta = item.path("metadata");
                    deleted(meta.path("name").asString(""), meta.path("uid").asString(""), at);
                }
            }
        } else {
            note(answer, at);
        }
    }

    private void note(JsonNode budget, Instant at) {
        JsonNode meta = budget.path("metadata");
        String name = meta.path("name").asString("");
        String uid = meta.path("uid").asString("");
        long generation = meta.path("generation").asLong(0);
        Instant created = Times.read(meta.path("creationTimestamp"));
        boolean old =
                all.stream().anyMatch(it -> it.uid().equals(uid) && it.generation() >= generation);
        if (old || created == null) {
            return;
        }
        boolean first = generation <= 1;
        if (!first && all.stream().noneMatch(it -> it.uid().equals(uid))) {
            unknownBefore.put(name, at);
        }
        if (meta.path("labels").path("gpusharing.io/default").asString("").equals("true")) {
            byDefault.add(name);
        }
        var namespaces = new HashSet<String>();
        budget.at("/spec/namespaces").forEach(it -> namespaces.add(it.asString()));
        all.add(new Named(name, uid, generation, created, first ? created : at, namespaces));
    }

    /**
     * A budget is gone from an instant on.
     *
     * @param uid empty if the log does not say it; then it is the last of that name
     */
    private void deleted(String name, String uid, Instant at) {
        all.stream()
                .filter(it -> uid.isEmpty() ? it.budget().equals(name) : it.uid().equals(uid))
                .reduce((one, next) -> next)
                .ifPresent(it ->
                        all.add(
                                new Named(
                                        name,
                                        it.uid(),
                                        Long.MAX_VALUE,
                                        it.created(),
                                        at,
                                        Set.of())));
    }

    /** Whether each of these spans of a pod was on the right account. */
    Answer judge(String namespace, List<Paid> spans) {
        Map<String, Turn> turns = turns(namespace);
        for (Paid paid : spans.stream().filter(it -> it.from().isBefore(it.to())).toList()) {
            Turn turn = turns.get(paid.budget());
            if (isUnknown(turns.keySet(), paid)) {
                return new Answer.Unknown();
            }
            if (turn == null) {
                return new Answer.Wrong(paid);
            }
            if (paid.from().isBefore(turn.from()) || turn.to().isBefore(paid.to())) {
                return new Answer.Otherwhen(paid);
            }
        }
        return new Answer.Right();
    }

    private boolean isUnknown(Set<String> payers, Paid paid) {
        // A budget by default pays from a pod's first second on, and names its namespace later.
        boolean nobodyIsShown =
                payers.equals(Set.of(NOBODY))
                        && (!mentions(paid.budget()) || byDefault.contains(paid.budget()));
        return nobodyIsShown
                || Stream.concat(payers.stream(), Stream.of(paid.budget()))
                        .anyMatch(it ->
                                unknownBefore.getOrDefault(it, Instant.MIN).isAfter(paid.from()));
    }

    private boolean mentions(String budget) {
        return all.stream().anyMatch(it -> it.budget().equals(budget));
    }

    /** Who ever paid for a namespace, from the first such time to the last. */
    private Map<String, Turn> turns(String namespace) {
        return known.computeIfAbsent(namespace, this::lookUp);
    }

    private Map<String, Turn> lookUp(String namespace) {
        Set<String> naming =
                all.stream()
                        .filter(it -> it.namespaces().contains(namespace))
                        .map(Named::budget)
                        .collect(Collectors.toSet());
        List<Named> changes =
                all.stream()
                        .filter(it -> naming.contains(it.budget()))
                        .sorted(Comparator.comparing(Named::since))
                        .toList();
        var present = new HashMap<String, Named>();
        var turns = new HashMap<String, Turn>();
        String payer = NOBODY;
        Instant since = Instant.MIN;
        for (Named change : changes) {
            if (since.isBefore(change.since())) {
                turns.merge(payer, Turn.of(since, change.since()), Turn::and);
            }
            // One that was created again is another: its predecessor's deletion may be logged after
            // its creation.
            present.put(change.uid(), change);
            since = change.since();
            payer =
                    present.values().stream()
                            .filter(it -> it.namespaces().contains(namespace))
                            .min(Named.SENIORITY)
                            .map(Named::budget)
                            .orElse(NOBODY);
        }
        turns.merge(payer, Turn.of(since, Instant.MAX), Turn::and);
        return turns;
    }
}

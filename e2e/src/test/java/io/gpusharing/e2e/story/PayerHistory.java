package io.gpusharing.e2e.story;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Who may have paid for a namespace in a second, by what the API server answered to each write of a
 * budget. It says when in whole seconds, so two may have paid in the second of a change.
 *
 * <p>Where the API server keeps no instant, of a deletion and of an edit that only takes a
 * namespace away, a change is the timekeeper's to see. One that does not run sees it when it
 * starts: until then whoever had the namespace in that outage may have paid, but no other.
 */
final class PayerHistory {

    /** In place of a budget's name where none has the namespace. */
    static final String NOBODY = "";

    /** What a watch takes. */
    private static final Duration SEEN_WITHIN = Duration.ofSeconds(1);

    private final List<Written> written;
    private final List<Span> outages;
    private final Map<String, List<Turn>> turns = new HashMap<>();

    /**
     * A budget that was created, edited or deleted.
     *
     * @param created by the API server; the older of two budgets keeps a namespace that both name
     * @param namespaces none once it is deleted
     * @param when from when on it may count, and from when on it must
     * @param told whether the object says when it was written
     */
    record Written(
            String budget, Instant created, Set<String> namespaces, Span when, boolean told) {

        private static final Comparator<Written> SENIORITY =
                Comparator.comparing(Written::created).thenComparing(Written::budget);

        /**
         * Created or edited. An edit that leaves the stamp as it was may be one of the same second,
         * or one that the API server does not stamp.
         *
         * @param answer the API server's
         * @param last the budget's stamp before; {@link Instant#MIN} for a new one
         */
        static Written of(
                ObjectMeta answer,
                Instant last,
                Set<String> namespaces,
                Instant before,
                Instant after) {
            Instant stamp = stamp(answer);
            boolean told = stamp.isAfter(last);
            return new Written(
                    answer.getName(),
                    Instant.parse(answer.getCreationTimestamp()),
                    Set.copyOf(namespaces),
                    told
                            ? new Span(stamp, stamp.plusSeconds(1))
                            : new Span(before, after.plus(SEEN_WITHIN)),
                    told);
        }

        /** When the API server says that a budget was written last. */
        static Instant stamp(ObjectMeta answer) {
            return answer.getManagedFields().stream()
                    .filter(it -> it.getSubresource() == null)
                    .map(ManagedFieldsEntry::getTime)
                    .map(Instant::parse)
                    .max(Comparator.naturalOrder())
                    .orElseGet(() -> Instant.parse(answer.getCreationTimestamp()));
        }

        static Written deleted(String budget, Instant before, Instant after) {
            var when = new Span(before, after.plus(SEEN_WITHIN));
            return new Written(budget, Instant.MAX, Set.of(), when, false);
        }
    }

    record Span(Instant from, Instant to) {

        private boolean meets(Span other) {
            return from.isBefore(other.to) && other.from.isBefore(to);
        }
    }

    /** When a budget may have paid for a namespace. */
    private record Turn(String budget, Span when) {}

    /** Whether what a second was charged to is what the API server says. */
    enum Answer {
        RIGHT,

        /** It had the namespace in the outage in which that changed, unseen. */
        WITHIN_AN_OUTAGE,

        WRONG
    }

    /**
     * @param written in the order in which the API server wrote
     * @param outages in which no timekeeper saw what happened
     */
    PayerHistory(Collection<Written> written, Collection<Span> outages) {
        this.written = List.copyOf(written);
        this.outages = List.copyOf(outages);
    }

    /** Whether a budget, or nobody, may have paid for a namespace in a second. */
    Answer judge(String namespace, String budget, Instant second) {
        var itself = new Span(second, second.plusSeconds(1));
        if (payers(namespace, itself).contains(budget)) {
            return Answer.RIGHT;
        }
        return outages.stream()
                        .filter(itself::meets)
                        .anyMatch(it -> hadItUnseen(namespace, budget, it))
                ? Answer.WITHIN_AN_OUTAGE
                : Answer.WRONG;
    }

    /** Who may have paid at some time in a span. */
    Set<String> payers(String namespace, Span span) {
        return turns(namespace).stream()
                .filter(it -> it.when().meets(span))
                .map(Turn::budget)
                .collect(Collectors.toSet());
    }

    @Override
    public String toString() {
        return written.stream().map(Written::toString).collect(Collectors.joining("\n"));
    }

    private boolean hadItUnseen(String namespace, String budget, Span outage) {
        Set<String> payers = payers(namespace, outage);
        return payers.contains(budget) && !isTold(payers, outage);
    }

    /** Whether the objects that are there afterwards give the one instant of the change. */
    private boolean isTold(Set<String> payers, Span outage) {
        List<Written> unseen =
                written.stream()
                        .filter(it -> payers.contains(it.budget()) && it.when().meets(outage))
                        .toList();
        return unseen.stream().allMatch(Written::told)
                && unseen.stream().map(Written::when).distinct().count() <= 1;
    }

    private List<Turn> turns(String namespace) {
        return turns.computeIfAbsent(namespace, this::lookUp);
    }

    private List<Turn> lookUp(String namespace) {
        var found = new ArrayList<Turn>();
        var present = new HashMap<String, Written>();
        String payer = NOBODY;
        Instant since = Instant.MIN;
        for (Written change : written) {
            present.put(change.budget(), change);
            String next = payer(present.values(), namespace);
            if (!next.equals(payer)) {
                found.add(new Turn(payer, new Span(since, change.when().to())));
                payer = next;
                since = change.when().from();
            }
        }
        found.add(new Turn(payer, new Span(since, Instant.MAX)));
        return found;
    }

    private static String payer(Collection<Written> present, String namespace) {
        return present.stream()
                .filter(it -> it.namespaces().contains(namespace))
                .min(Written.SENIORITY)
                .map(Written::budget)
                .orElse(NOBODY);
    }
}

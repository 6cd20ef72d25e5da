package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.RateSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Charges pods: what an allocation costs becomes entries of a posting, which no full hour and no
 * step of a budget lies in. A pod that runs is not charged each second: until its next posting the
 * budget's {@code OpenRates} have its time.
 */
final class PodCharger {

    private final RateSource rates;
    private final List<Entry> charges = new ArrayList<>();
    private final List<Correction> corrections = new ArrayList<>();

    PodCharger(RateSource rates) {
        this.rates = rates;
    }

    List<Entry> charges() {
        return charges;
    }

    List<Correction> corrections() {
        return corrections;
    }

    /**
     * Charges an allocation from where it is posted up to an instant. Where it was charged before,
     * that is a correction.
     */
    PodAllocation charge(PodAllocation allocation, Instant to) {
        Instant from = allocation.postedUntil();
        while (from.isBefore(to)) {
            Instant cut = cut(allocation, from, to);
            if (allocation.rate() > 0) {
                Entry entry = entry(allocation, from, cut, allocation.rate());
                if (from.isBefore(allocation.chargedUntil())) {
                    correct(entry, "the pod was still there");
                } else {
                    charges.add(entry);
                }
            }
            from = cut;
        }
        return allocation.posted(from);
    }

    static Entry entry(PodAllocation allocation, Instant from, Instant to, long rate) {
        return new Entry(
                allocation.uid(), allocation.namespace(), allocation.budget(), from, to, rate);
    }

    void correct(Entry difference, String reason) {
        corrections.add(new Correction(difference, reason));
    }

    private Instant cut(PodAllocation allocation, Instant from, Instant to) {
        Instant cut = earlier(to, Entry.hourAfter(from));
        Instant ofBudget = rates.cutAfter(allocation.budget(), from);
        if (ofBudget != null) {
            cut = earlier(cut, ofBudget);
        }
        return from.isBefore(allocation.chargedUntil())
                ? earlier(cut, allocation.chargedUntil())
                : cut;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /**
     * Gives back what was charged beyond a pod's end: every entry, also one that is itself a
     * correction, gets its opposite.
     *
     * @param committed all entries of the pod that reach beyond the end, as far as they are
     *     committed
     */
    void takeBack(UUID pod, Instant end, Collection<Entry> committed) {
        List<Entry> beyond =
                Stream.of(
                                committed.stream(),
                                charges.stream(),
                                corrections.stream().map(Correction::entry))
                        .flatMap(entries -> entries)
                        .filter(entry -> entry.pod().equals(pod) && entry.to().isAfter(end))
                        .toList();
        for (Entry entry : beyond) {
            correct(
                    new Entry(
                            pod,
                            entry.namespace(),
                            entry.budget(),
                            entry.from().isBefore(end) ? end : entry.from(),
                            entry.to(),
                            -entry.rate()),
                    "the pod had ended at " + end);
        }
    }
}

package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.timekeeper.ledger.Entry;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The rate at which a span of a pod should have been charged. It states the result, not the
 * difference: nobody can take back more than was charged, and ordering the same again changes
 * nothing.
 *
 * @param budget on whose account; spans that another budget paid for are left alone
 * @param from whole second
 * @param to whole second
 * @param rate micro-GPUs that the span should have been charged; 0 takes all of it back
 */
public record CorrectionOrder(UUID pod, String budget, Instant from, Instant to, long rate) {

    /** A thousand whole GPUs: more than any pod can hold is a slip of the pen. */
    private static final long MAX_RATE = 1_000_000_000;

    public CorrectionOrder {
        if (parts(from) || parts(to)) {
            throw new IllegalArgumentException(
                    "from and to are whole seconds, as all charges are: " + from + ", " + to);
        }
        if (!from.isBefore(to)) {
            throw new IllegalArgumentException("from must be before to: " + from + ", " + to);
        }
        if (rate < 0 || rate > MAX_RATE) {
            throw new IllegalArgumentException(
                    "rate is what the span should have cost, in micro-GPUs from 0 (nothing) to "
                            + MAX_RATE
                            + " (a thousand GPUs), not "
                            + rate);
        }
    }

    /**
     * The entries that make it so. Where nothing was ever charged, nothing can be corrected.
     *
     * @param posted charges of the pod
     * @param corrected corrections of the pod
     * @return differences, oldest first; empty if it is so already
     */
    List<Entry> entries(Collection<Entry> posted, Collection<Entry> corrected) {
        var differences = new ArrayList<Entry>();
        for (Entry charge : posted) {
            Instant start = charge.from().isBefore(from) ? from : charge.from();
            Instant end = charge.to().isAfter(to) ? to : charge.to();
            if (!charge.budget().equals(budget) || !start.isBefore(end)) {
                continue;
            }
            var cuts = new TreeSet<>(List.of(start, end));
            for (Entry correction : corrected) {
                within(cuts, correction.from(), start, end);
                within(cuts, correction.to(), start, end);
            }
            Instant last = start;
            for (Instant cut : cuts.tailSet(start, false)) {
                long difference = rate - net(charge, corrected, last);
                if (difference != 0) {
                    differences.add(
                            new Entry(pod, charge.namespace(), budget, last, cut, difference));
                }
                last = cut;
            }
        }
        return differences;
    }

    private static boolean parts(Instant instant) {
        return !instant.equals(instant.truncatedTo(ChronoUnit.SECONDS));
    }

    private static void within(TreeSet<Instant> cuts, Instant cut, Instant start, Instant end) {
        if (cut.isAfter(start) && cut.isBefore(end)) {
            cuts.add(cut);
        }
    }

    private long net(Entry charge, Collection<Entry> corrected, Instant at) {
        return charge.rate()
                + corrected.stream()
                        .filter(it -> it.budget().equals(budget))
                        .filter(it -> !it.from().isAfter(at) && it.to().isAfter(at))
                        .mapToLong(Entry::rate)
                        .sum();
    }
}

package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.allocation.UseRule;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.Measurements;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.RateSource;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Corrects what pods were charged for their shares to what is due by measured use. Each settlement
 * compares totals, so the next one makes good whatever was reported late or twice, and any
 * settlement that was lost.
 */
@Component
public class Settlement {

    private final Ledger ledger;
    private final Measurements measurements;
    private final RateSource rates;
    private final UseRule rule;

    public Settlement(
            Ledger ledger,
            Measurements measurements,
            RateSource rates,
            LedgerProperties properties) {
        this.ledger = ledger;
        this.measurements = measurements;
        this.rates = rates;
        this.rule = new UseRule(properties.idleFloorPercent());
    }

    /** What agents have measured of these pods. */
    Map<UUID, Measured> measured(Collection<PodAllocation> allocations) {
        return measurements.of(allocations.stream().map(PodAllocation::uid).toList());
    }

    /**
     * A stretch that begins where the allocation is posted.
     *
     * @param measured what had been measured by then; null if nothing
     */
    static ByUse stretch(PodAllocation allocation, @Nullable Measured measured) {
        return measured == null
                ? new ByUse(allocation.postedUntil(), 0, 0, null)
                : new ByUse(
                        allocation.postedUntil(),
                        measured.used(),
                        measured.coveredOf(gpus(allocation)),
                        null);
    }

    /**
     * Settles allocations whose entries are committed, and commits that.
     *
     * @param which those to be settled, all of them in {@code allocations}
     * @param mark until when; an allocation is settled once for each mark
     */
    void settle(
            OpenAllocations allocations,
            List<PodAllocation> which,
            Map<UUID, Measured> measured,
            Instant mark) {
        if (which.isEmpty()) {
            return;
        }
        PostingBuilder builder = allocations.builder();
        Map<UUID, GpuTime> charged =
                ledger.chargedByUse(which.stream().map(PodAllocation::uid).toList());
        for (PodAllocation allocation : which) {
            ByUse use = allocation.metering().use();
            if (use == null || mark.equals(use.settled())) {
                continue;
            }
            GpuTime now = charged.getOrDefault(allocation.uid(), GpuTime.ZERO);
            GpuTime due = due(allocation, use, measured.get(allocation.uid()));
            Entry difference = difference(allocation, use, due.minus(now));
            if (difference != null || use.settled() == null) {
                builder.settle(allocation, difference, mark);
            }
        }
        allocations.commit(builder);
    }

    private GpuTime due(PodAllocation allocation, ByUse use, @Nullable Measured measured) {
        // The end may turn out to lie before the stretch; then nothing of it is due.
        long held =
                Math.max(0, Duration.between(use.since(), allocation.postedUntil()).toSeconds());
        long busyOf = allocation.share().busyPart();
        return measured == null
                ? rule.due(allocation.rate(), busyOf, held, 0, 0)
                : rule.due(
                        allocation.rate(),
                        busyOf,
                        held,
                        measured.coveredOf(gpus(allocation)) - use.covered(),
                        measured.used() - use.used());
    }

    private static long gpus(PodAllocation allocation) {
        return Math.ceilDiv(
                Math.max(allocation.share().compute(), allocation.share().memory()),
                GpuShare.WHOLE);
    }

    /**
     * The difference as a steady rate over the allocation's last entry. What is less than one
     * micro-GPU of it stays for the next time.
     */
    private @Nullable Entry difference(PodAllocation allocation, ByUse use, GpuTime difference) {
        Instant to = allocation.postedUntil();
        Instant from = lastCut(allocation, use, to);
        long seconds = Duration.between(from, to).toSeconds();
        long rate = seconds <= 0 ? 0 : difference.microGpuSeconds() / seconds;
        return rate == 0 ? null : PodCharger.entry(allocation, from, to, rate);
    }

    /** Where the hour or the period began in which the allocation is posted. */
    private Instant lastCut(PodAllocation allocation, ByUse use, Instant to) {
        Instant hour = Entry.hourBefore(to);
        Instant from = hour.isAfter(use.since()) ? hour : use.since();
        Instant cut = rates.cutAfter(allocation.budget(), from);
        while (cut != null && cut.isBefore(to)) {
            from = cut;
            cut = rates.cutAfter(allocation.budget(), from);
        }
        return from;
    }
}

package io.gpusharing.timekeeper.ledger;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.PodStay.ByUse;
import io.gpusharing.timekeeper.metering.UseRule;
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
class Settlement {

    private final Ledger ledger;
    private final Measurements measurements;
    private final Tariffs tariffs;
    private final UseRule rule;

    Settlement(
            Ledger ledger,
            Measurements measurements,
            Tariffs tariffs,
            LedgerProperties properties) {
        this.ledger = ledger;
        this.measurements = measurements;
        this.tariffs = tariffs;
        this.rule = new UseRule(properties.idleFloorPercent());
    }

    /** What agents have measured of these pods. */
    Map<UUID, Measured> measured(Collection<PodStay> stays) {
        return measurements.of(stays.stream().map(PodStay::uid).toList());
    }

    /**
     * A stretch that begins where the stay is posted.
     *
     * @param measured what had been measured by then; null if nothing
     */
    static ByUse stretch(PodStay stay, @Nullable Measured measured) {
        return measured == null
                ? new ByUse(stay.postedUntil(), 0, 0, null)
                : new ByUse(
                        stay.postedUntil(), measured.used(), measured.coveredOf(gpus(stay)), null);
    }

    /**
     * Settles stays whose entries are committed, and commits that.
     *
     * @param which those to be settled, all of them in {@code stays}
     * @param mark until when; a stay is settled once for each mark
     */
    void settle(Stays stays, List<PodStay> which, Map<UUID, Measured> measured, Instant mark) {
        if (which.isEmpty()) {
            return;
        }
        Draft draft = stays.draft();
        Map<UUID, GpuTime> charged = ledger.chargedByUse(which.stream().map(PodStay::uid).toList());
        for (PodStay stay : which) {
            ByUse use = stay.metering().use();
            if (use == null || mark.equals(use.settled())) {
                continue;
            }
            GpuTime now = charged.getOrDefault(stay.uid(), GpuTime.ZERO);
            GpuTime due = due(stay, use, measured.get(stay.uid()));
            Entry difference = difference(stay, use, due.minus(now));
            if (difference != null || use.settled() == null) {
                draft.settle(stay, difference, mark);
            }
        }
        stays.commit(draft);
    }

    private GpuTime due(PodStay stay, ByUse use, @Nullable Measured measured) {
        // The end may turn out to lie before the stretch; then nothing of it is due.
        long held = Math.max(0, Duration.between(use.since(), stay.postedUntil()).toSeconds());
        long busyOf = stay.share().compute() > 0 ? stay.share().compute() : stay.share().memory();
        return measured == null
                ? rule.due(stay.rate(), busyOf, held, 0, 0)
                : rule.due(
                        stay.rate(),
                        busyOf,
                        held,
                        measured.coveredOf(gpus(stay)) - use.covered(),
                        measured.used() - use.used());
    }

    private static long gpus(PodStay stay) {
        return Math.ceilDiv(
                Math.max(stay.share().compute(), stay.share().memory()), GpuShare.WHOLE);
    }

    /**
     * The difference as a steady rate over the stay's last entry. What is less than one micro-GPU
     * of it stays for the next time.
     */
    private @Nullable Entry difference(PodStay stay, ByUse use, GpuTime difference) {
        Instant to = stay.postedUntil();
        Instant from = lastCut(stay, use, to);
        long seconds = Duration.between(from, to).toSeconds();
        long rate = seconds <= 0 ? 0 : difference.microGpuSeconds() / seconds;
        return rate == 0
                ? null
                : new Entry(stay.uid(), stay.namespace(), stay.budget(), from, to, rate);
    }

    /** Where the hour or the period began in which the stay is posted. */
    private Instant lastCut(PodStay stay, ByUse use, Instant to) {
        Instant hour = Entry.hourBefore(to);
        Instant from = hour.isAfter(use.since()) ? hour : use.since();
        Instant cut = tariffs.cutAfter(stay.budget(), from);
        while (cut != null && cut.isBefore(to)) {
            from = cut;
            cut = tariffs.cutAfter(stay.budget(), from);
        }
        return from;
    }
}

package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.web.LeaderTask.sooner;

import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Posts what time alone brings: full hours, the marks at which measured use is settled, cuts of
 * budgets, and the ends of pods that were waited for in vain.
 */
final class DuePostings {

    /** What is reported later than this about a pod that has ended changes no charge any more. */
    private static final Duration LATE_REPORTS = Duration.ofHours(2);

    private final OpenAllocations allocations;
    private final PodTracker pods;
    private final VanishedPods vanished;
    private final Ledger ledger;
    private final LedgerListener listener;
    private final Settlement settlement;
    private final LedgerProperties properties;
    private final Clock clock;
    private Instant hourPosted = Instant.MIN;
    private Instant settled = Instant.MIN;

    DuePostings(
            OpenAllocations allocations,
            PodTracker pods,
            VanishedPods vanished,
            Ledger ledger,
            LedgerListener listener,
            Settlement settlement,
            LedgerProperties properties,
            Clock clock) {
        this.allocations = allocations;
        this.pods = pods;
        this.vanished = vanished;
        this.ledger = ledger;
        this.listener = listener;
        this.settlement = settlement;
        this.properties = properties;
        this.clock = clock;
    }

    /** Our term begins: others may have posted since we did. */
    void takeOver() {
        hourPosted = Instant.MIN;
        settled = Instant.MIN;
    }

    /** When {@link #post} has something to do; null while the pods are not known. */
    @Nullable Instant next() {
        if (!pods.listed()) {
            return null;
        }
        Instant closing = clock.instant().minus(properties.hourCloses());
        Instant hour = Entry.hourAfter(closing).plus(properties.hourCloses());
        Instant mark =
                lastMark(closing).plus(properties.settleEvery()).plus(properties.hourCloses());
        return sooner(sooner(hour, mark), sooner(vanished.nextDue(), listener.nextDue()));
    }

    /**
     * Posts what is due.
     *
     * @param unsettled from when on it is not known who pays; null if it is
     */
    void post(@Nullable Instant unsettled) {
        if (!pods.listed()) {
            return;
        }
        Instant now = clock.instant();
        Instant past = now.minus(properties.hourCloses());
        Instant closing = unsettled == null || unsettled.isAfter(past) ? past : unsettled;
        Instant hour = closing.truncatedTo(ChronoUnit.HOURS);
        Instant mark = lastMark(closing);
        PostingBuilder builder = allocations.builder();
        if (hour.isAfter(hourPosted)) {
            builder = post(builder, allocations.open(), allocation -> hour);
        }
        if (mark.isAfter(settled)) {
            builder =
                    post(
                            builder,
                            allocations.open(),
                            allocation -> allocation.byUse() ? mark : null);
        }
        Map<String, Instant> cuts = listener.due(now);
        if (!cuts.isEmpty()) {
            builder =
                    post(
                            builder,
                            allocations.openOf(cuts.keySet()),
                            allocation -> cuts.get(allocation.budget()));
        }
        boolean waitOver = vanished.isWaitOver(now);
        if (waitOver) {
            vanished.estimate(builder, now);
        }
        allocations.commit(builder);
        if (waitOver) {
            vanished.estimated();
        }
        // While the past is still being reported, more would have to be taken back.
        if (vanished.caughtUp(now)) {
            if (mark.isAfter(settled)) {
                settle(mark);
                settled = mark;
            }
            listener.upToDate(now);
        }
        hourPosted = hour;
    }

    /**
     * Posts open allocations.
     *
     * @param until up to when each of them; null to leave it as it is
     * @return the builder, or another one if this has grown large
     */
    private PostingBuilder post(
            PostingBuilder builder,
            List<PodAllocation> open,
            Function<PodAllocation, @Nullable Instant> until) {
        PostingBuilder present = builder;
        for (PodAllocation allocation : open) {
            Instant to = until.apply(allocation);
            if (to != null) {
                present.chargeUntil(present.now(allocation), to);
                present = allocations.relieved(present);
            }
        }
        return present;
    }

    /** Brings whoever is charged by measured use to what was measured until a mark. */
    private void settle(Instant mark) {
        List<PodAllocation> ended =
                ledger.endedByUse(mark.minus(LATE_REPORTS)).stream()
                        .filter(allocation -> allocations.get(allocation.uid()) == null)
                        .toList();
        allocations.hold(ended);
        List<PodAllocation> all = allocations.all().filter(PodAllocation::byUse).toList();
        Map<UUID, Measured> measured = settlement.measured(all);
        settlement.settle(allocations, all, measured, mark);
        allocations.release(ended.stream().map(PodAllocation::uid).toList());
        listener.unmeasured(unmeasured(all, measured, mark.minus(properties.settleEvery())));
    }

    /**
     * By budget, how many open allocations were not measured since an instant; also if there are
     * none.
     */
    private static Map<String, Integer> unmeasured(
            List<PodAllocation> all, Map<UUID, Measured> measured, Instant since) {
        var unmeasured = new HashMap<String, Integer>();
        all.stream()
                .filter(PodAllocation::open)
                .forEach(allocation -> {
                    Measured latest = measured.get(allocation.uid());
                    boolean blind = latest == null || latest.last().isBefore(since);
                    unmeasured.merge(allocation.budget(), blind ? 1 : 0, Integer::sum);
                });
        return unmeasured;
    }

    private Instant lastMark(Instant instant) {
        long every = properties.settleEvery().toSeconds();
        return Instant.ofEpochSecond(Math.floorDiv(instant.getEpochSecond(), every) * every);
    }
}

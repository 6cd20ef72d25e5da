package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Posts what time alone brings: full hours, the marks at which measured use is settled, cuts of
 * budgets, and the ends of pods that were waited for in vain.
 *
 * <p>Belongs to the bookkeeper's thread.
 */
final class DuePostings {

    /** What is reported later than this about a pod that has ended changes no charge any more. */
    private static final Duration LATE_REPORTS = Duration.ofHours(2);

    private final Stays stays;
    private final PodTracker pods;
    private final Ledger ledger;
    private final Tariffs tariffs;
    private final Settlement settlement;
    private final LedgerProperties properties;
    private final Clock clock;
    private Instant hourPosted = Instant.MIN;
    private Instant settled = Instant.MIN;

    DuePostings(
            Stays stays,
            PodTracker pods,
            Ledger ledger,
            Tariffs tariffs,
            Settlement settlement,
            LedgerProperties properties,
            Clock clock) {
        this.stays = stays;
        this.pods = pods;
        this.ledger = ledger;
        this.tariffs = tariffs;
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
        return Stream.of(
                        Entry.hourAfter(closing).plus(properties.hourCloses()),
                        lastMark(closing)
                                .plus(properties.settleEvery())
                                .plus(properties.hourCloses()),
                        pods.nextDue(),
                        tariffs.nextDue())
                .filter(Objects::nonNull)
                .min(Instant::compareTo)
                .orElse(null);
    }

    /** Posts what is due. */
    void post() {
        if (!pods.listed()) {
            return;
        }
        Instant now = clock.instant();
        Instant closing = now.minus(properties.hourCloses());
        Instant hour = closing.truncatedTo(ChronoUnit.HOURS);
        Instant mark = lastMark(closing);
        Draft draft = stays.draft();
        if (hour.isAfter(hourPosted)) {
            draft = post(draft, stay -> hour);
        }
        if (mark.isAfter(settled)) {
            draft = post(draft, stay -> stay.byUse() ? mark : null);
        }
        Map<String, Instant> cuts = tariffs.due(now);
        if (!cuts.isEmpty()) {
            draft = post(draft, stay -> cuts.get(stay.budget()));
        }
        boolean waitOver = pods.isWaitOver(now);
        if (waitOver) {
            pods.estimate(draft, now);
        }
        stays.commit(draft);
        if (waitOver) {
            pods.estimated();
        }
        // While the past is still being told, more would have to be taken back.
        if (pods.caughtUp(now)) {
            if (mark.isAfter(settled)) {
                settle(mark);
                settled = mark;
            }
            tariffs.upToDate(now);
        }
        hourPosted = hour;
    }

    /**
     * Posts the open stays.
     *
     * @param until up to when each of them; null to leave it as it is
     * @return the draft, or another one if this has grown large
     */
    private Draft post(Draft draft, Function<PodStay, @Nullable Instant> until) {
        Draft present = draft;
        for (PodStay stay : stays.open()) {
            Instant to = until.apply(stay);
            if (to != null) {
                present.postUntil(present.now(stay), to);
                present = stays.relieved(present);
            }
        }
        return present;
    }

    /** Brings whoever is charged by measured use to what was measured until a mark. */
    private void settle(Instant mark) {
        List<PodStay> ended =
                ledger.endedByUse(mark.minus(LATE_REPORTS)).stream()
                        .filter(stay -> stays.get(stay.uid()) == null)
                        .toList();
        stays.hold(ended);
        List<PodStay> all = stays.all().filter(PodStay::byUse).toList();
        Map<UUID, Measured> measured = settlement.measured(all);
        settlement.settle(stays, all, measured, mark);
        stays.release(ended.stream().map(PodStay::uid).toList());
        tariffs.unmeasured(unmeasured(all, measured, mark.minus(properties.settleEvery())));
    }

    /**
     * By budget, how many open stays were not measured since an instant; also if there are none.
     */
    private static Map<String, Integer> unmeasured(
            List<PodStay> all, Map<UUID, Measured> measured, Instant since) {
        var unmeasured = new HashMap<String, Integer>();
        all.stream()
                .filter(PodStay::open)
                .forEach(stay -> {
                    Measured told = measured.get(stay.uid());
                    boolean blind = told == null || told.last().isBefore(since);
                    unmeasured.merge(stay.budget(), blind ? 1 : 0, Integer::sum);
                });
        return unmeasured;
    }

    private Instant lastMark(Instant instant) {
        long every = properties.settleEvery().toSeconds();
        return Instant.ofEpochSecond(Math.floorDiv(instant.getEpochSecond(), every) * every);
    }
}

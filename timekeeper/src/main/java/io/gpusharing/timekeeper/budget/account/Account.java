package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.Terms;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.ledger.Entry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One budget's account: what was posted since the last step of its line, and what open allocations
 * add with every second. It is computed from the ledger and can be computed anew at any time.
 */
public final class Account {

    private Budget budget;
    private @Nullable SetAside setAside;
    private List<Conflict> conflicts = List.of();
    private @Nullable Integer unmeasured;
    private List<String> withoutQuota = List.of();
    private Period period;
    private Instant base;
    private @Nullable BudgetLine line;
    private GpuTime postedSinceBase = GpuTime.ZERO;

    /** What became known late of earlier spans and counts at {@code base}. */
    private GpuTime lateAtBase = GpuTime.ZERO;

    /** Since when what is known now differs from what the last state knew. */
    private Instant retoldSince = Instant.MAX;

    private @Nullable Instant foretold;
    private @Nullable Instant exhaustedSince;
    private final Map<String, GpuTime> posted = new HashMap<>();
    private final OpenRates open;

    /**
     * @param carryOver the last period that was opened for it
     * @param open what its open allocations add, as the ledger has it at any time
     */
    public Account(Budget budget, CarryOver carryOver, OpenRates open) {
        this.budget = budget;
        this.open = open;
        this.period = carryOver.period();
        this.base = carryOver.countedFrom();
    }

    /** As it counts now. */
    public Budget budget() {
        return budget;
    }

    /** As it was written, also while it cannot be computed so. */
    public Budget written() {
        return setAside == null ? budget : setAside.written;
    }

    /** Whether nothing has changed in what it is computed by. */
    public boolean isOf(Budget now, List<Conflict> conflictsNow) {
        return written().countsAs(now) && conflicts.equals(conflictsNow);
    }

    public void changed(Budget now, List<Conflict> conflictsNow) {
        budget = now;
        setAside = null;
        conflicts = conflictsNow;
    }

    /**
     * It cannot be computed. Until it can, it has no limit, and what is posted is added to what was
     * known before.
     *
     * @param again when to try again
     */
    public void setAside(String problem, Instant again) {
        setAside = new SetAside(written(), again);
        budget = budget.notUnderstood(problem);
        line = null;
    }

    public boolean isSetAside() {
        return setAside != null;
    }

    /**
     * It counts as it was written, because it was computed so.
     *
     * @return whether it was set aside until now
     */
    public boolean takeUp() {
        boolean until = isSetAside();
        budget = written();
        setAside = null;
        return until;
    }

    /** The terms that hold now; null if it is unlimited. */
    public @Nullable Terms terms() {
        return budget.spec().terms().orElse(null);
    }

    /**
     * Computes everything anew from the ledger, from the opening of a period to the last step
     * before {@code now}.
     *
     * @param periods how periods are cut
     * @param terms that count for them; null if it was unlimited
     * @param grants all that count at or after the opening
     * @return the periods that have begun since, as they are to be opened
     */
    public List<CarryOver> replay(
            CarryOver carryOver,
            PeriodRule periods,
            @Nullable Terms terms,
            List<Grant> grants,
            BalanceReplay.Usage usage,
            Instant now) {
        BalanceReplay replay = BalanceReplay.of(carryOver, periods, terms, grants, usage, now);
        period = replay.period();
        base = replay.base();
        line = replay.line();
        GpuTime late = BalanceReplay.sum(replay.late());
        boolean unmoved = base.equals(carryOver.countedFrom());
        lateAtBase = unmoved ? late : GpuTime.ZERO;
        postedSinceBase = BalanceReplay.sum(usage.posted(base, null)).plus(lateAtBase);
        posted.replaceAll((name, used) -> GpuTime.ZERO);
        posted.putAll(usage.posted(replay.counted(), null));
        if (replay.counted().equals(carryOver.countedFrom())) {
            replay.late().forEach((name, used) -> posted.merge(name, used, GpuTime::plus));
        }
        return replay.begun();
    }

    /**
     * How many of its open allocations nobody has measured lately.
     *
     * @return whether that is new
     */
    public boolean unmeasured(int allocations) {
        boolean known = unmeasured != null && unmeasured == allocations;
        unmeasured = allocations;
        return !known;
    }

    /**
     * The quotas that it refers to are not there in these namespaces.
     *
     * @return whether that is new
     */
    public boolean withoutQuota(List<String> namespaces) {
        boolean known = withoutQuota.equals(namespaces);
        withoutQuota = namespaces;
        return !known;
    }

    /**
     * Takes a posted entry.
     *
     * @return false if it lies before the last step, so that the account has to be replayed
     */
    public boolean posted(Entry entry) {
        if (entry.from().isBefore(base)) {
            return false;
        }
        postedSinceBase = postedSinceBase.plus(entry.amount());
        posted.merge(entry.namespace(), entry.amount(), GpuTime::plus);
        return true;
    }

    /** From an instant on it was used otherwise than was known. */
    public void revised(Instant since) {
        retoldSince = since.isBefore(retoldSince) ? since : retoldSince;
    }

    /** Last instant at which something changed by itself. */
    public Instant base() {
        return base;
    }

    /** The next instant at which something changes by itself; null if nothing does. */
    public @Nullable Instant nextStep() {
        return setAside == null ? BalanceReplay.nextStep(line, period) : setAside.again;
    }

    /** The first instant after {@code instant} at which entries are cut; null if there is none. */
    public @Nullable Instant cutAfter(Instant instant) {
        Instant cut = null;
        if (line != null) {
            for (Credit credit : line.credits()) {
                cut = sooner(sooner(cut, credit.from(), instant), credit.until(), instant);
            }
        }
        Period of = period.contains(instant) ? period : budget.periods().at(instant);
        return sooner(cut, of.end(), instant);
    }

    private static @Nullable Instant sooner(
            @Nullable Instant known, @Nullable Instant candidate, Instant after) {
        boolean better =
                candidate != null
                        && candidate.isAfter(after)
                        && (known == null || candidate.isBefore(known));
        return better ? candidate : known;
    }

    /**
     * The account as of an instant.
     *
     * @param used what the ledger has of it, also what is not posted yet
     */
    public BudgetState state(Instant now, UsedTime used) {
        Instant asOf = asOf(now);
        List<NamespaceUse> namespaces = new ArrayList<>();
        GpuTime running = GpuTime.ZERO;
        long rate = 0;
        var names = new TreeSet<>(posted.keySet());
        names.addAll(open.namespaces());
        for (String name : names) {
            GpuTime before = posted.getOrDefault(name, GpuTime.ZERO);
            GpuTime since = open.used(name, asOf);
            running = running.plus(since);
            rate = Math.addExact(rate, open.rate(name));
            if (open.rate(name) > 0
                    || before.microGpuSeconds() != 0
                    || budget.spec().namespaces().contains(name)) {
                namespaces.add(new NamespaceUse(name, before.plus(since), open.rate(name)));
            }
        }
        BudgetLine present =
                line == null
                        ? null
                        : line.after(postedSinceBase.plus(running), asOf).withRate(rate);
        noteExhaustion(present, asOf, used);
        return new BudgetState(
                budget.name(),
                budget.uid(),
                budget.generation(),
                budget.spec(),
                asOf,
                period,
                Optional.ofNullable(present),
                exhaustedSince,
                namespaces,
                conflicts,
                unmeasured == null || rate > 0 ? unmeasured : Integer.valueOf(0),
                budget.invalidSpec(),
                withoutQuota);
    }

    /**
     * The API server's clock may be a little ahead of ours, so that allocations begin later than
     * now. What a clock that was further ahead has posted beyond now, maybe beyond the last step,
     * stays posted and runs with a minus.
     */
    private Instant asOf(Instant now) {
        Instant step = nextStep();
        Instant latest = open.latest();
        boolean little = latest.isAfter(now) && !latest.isAfter(now.plus(LeaseSettings.SKEW));
        boolean ahead = little && (step == null || latest.isBefore(step));
        Instant asOf = ahead ? latest : now;
        return asOf.isBefore(base) ? base : asOf;
    }

    private void noteExhaustion(@Nullable BudgetLine now, Instant asOf, UsedTime used) {
        if (now == null || now.remaining().isPositive()) {
            exhaustedSince = null;
            foretold = now == null ? null : now.exhaustedAt();
        } else {
            Instant known = exhaustedSince != null ? exhaustedSince : foretold;
            boolean stands = known != null && !known.isAfter(asOf) && !retoldSince.isBefore(known);
            exhaustedSince = stands ? known : exhaustion(asOf, used);
        }
        retoldSince = Instant.MAX;
    }

    /** Looks up in the ledger when the last of it was used, as {@link BudgetLine#exhaustedAt}. */
    private Instant exhaustion(Instant asOf, UsedTime used) {
        GpuTime left = line == null ? GpuTime.ZERO : line.remaining().minus(lateAtBase);
        Instant end = used.whenUsed(left, base, asOf);
        // Without an answer it was used up before the last step.
        if (end == null) {
            end = exhaustedSince;
        }
        return end != null ? end : budget.publishedExhaustion(period, asOf);
    }

    /** What a budget that cannot be computed was, and when to try again. */
    private record SetAside(Budget written, Instant again) {}
}

package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** For which waiters nobody is evicted now, wherever they would fit, and why not. */
final class WaiterFilter {

    private final ClusterSnapshot snapshot;
    private final Rules rules;

    WaiterFilter(ClusterSnapshot snapshot, Rules rules) {
        this.snapshot = snapshot;
        this.rules = rules;
    }

    /** Why nobody is evicted for it; empty if somebody may be. */
    Optional<Leave> refuse(Waiter waiter) {
        return notYet(waiter).or(() -> repeated(waiter));
    }

    private Optional<Leave> notYet(Waiter waiter) {
        BudgetAccount budget = snapshot.budgetOf(waiter.pod());
        Instant actsAt = waiter.since().plus(rules.patience());
        if (rules.paused()) {
            return leave(waiter, Reason.PAUSED, "reclaim is paused");
        }
        if (waiter.gated()) {
            return leave(waiter, Reason.GATED, "a scheduling gate keeps it back");
        }
        if (waiter.nominatedNode() != null) {
            return leave(
                    waiter,
                    Reason.NOMINATED,
                    "the scheduler makes room on " + waiter.nominatedNode());
        }
        if (budget != null && budget.doubt() != null) {
            return leave(waiter, Reason.CANNOT_JUDGE, budget.doubt());
        }
        if (budget != null && budget.isOver()) {
            return leave(
                    waiter,
                    Reason.WAITER_OVER_BUDGET,
                    "budget %s is used up".formatted(budget.name()));
        }
        if (waiter.unjudged() != null) {
            return leave(waiter, Reason.CANNOT_JUDGE, waiter.unjudged());
        }
        if (snapshot.now().isBefore(actsAt)) {
            return leave(waiter, Reason.TOO_EARLY, "waits until " + actsAt);
        }
        return Optional.empty();
    }

    /** Whether room was made for the same workload before, and what became of it. */
    private Optional<Leave> repeated(Waiter waiter) {
        List<PastEviction> vain =
                snapshot.past().stream()
                        .filter(it -> !it.helped() && it.workload().equals(waiter.workload()))
                        .toList();
        Optional<PastEviction> open =
                vain.stream()
                        .filter(it -> it.waiter().uid().equals(waiter.pod().uid()))
                        .filter(it -> snapshot.now().isBefore(it.settlesAt()))
                        .findFirst();
        if (open.isPresent()) {
            return leave(
                    waiter,
                    Reason.SETTLING,
                    "room was made on %s; it has until %s"
                            .formatted(open.get().node(), open.get().settlesAt()));
        }
        List<PastEviction> failed =
                vain.stream().filter(it -> !snapshot.now().isBefore(it.settlesAt())).toList();
        long plans = failed.stream().map(PastEviction::plan).distinct().count();
        return failed.stream()
                .map(PastEviction::settlesAt)
                .max(Comparator.naturalOrder())
                .map(last -> last.plus(DisruptionGuard.backOff(rules, plans)))
                .filter(again -> snapshot.now().isBefore(again))
                .flatMap(again ->
                        leave(
                                waiter,
                                Reason.BACKING_OFF,
                                "room was made %d times in vain; not again before %s"
                                        .formatted(plans, again)));
    }

    private static Optional<Leave> leave(Waiter waiter, Reason reason, String detail) {
        return Optional.of(new Leave(waiter, reason, detail, null, List.of()));
    }
}

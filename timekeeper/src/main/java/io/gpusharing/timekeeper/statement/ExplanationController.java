package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.Balances;
import io.gpusharing.timekeeper.budget.Balances.Balance;
import io.gpusharing.timekeeper.budget.Balances.Stretch;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.AccountStatement;
import io.gpusharing.timekeeper.budget.account.AccountStatement.BalanceChange;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import io.gpusharing.timekeeper.receipt.EvictionReceipts;
import io.gpusharing.timekeeper.receipt.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.receipt.ReceiptCursor;
import io.gpusharing.timekeeper.statement.StatementLine.Place;
import io.gpusharing.timekeeper.statement.StatementRepository.PodUse;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.NamespaceParameter;
import io.gpusharing.timekeeper.web.Page;
import io.gpusharing.timekeeper.web.UsageApi;
import io.gpusharing.web.Caller;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * What was left of a budget, and why: the arithmetic behind a standing, and receipts of evictions.
 */
@RestController
class ExplanationController {

    private static final int LARGEST = 10;

    private final Budgets budgets;
    private final Balances balances;
    private final StatementRepository repository;
    private final EvictionReceipts evictions;
    private final Callers callers;
    private final Clock clock;

    ExplanationController(
            Budgets budgets,
            Balances balances,
            StatementRepository repository,
            EvictionReceipts evictions,
            Callers callers,
            Clock clock) {
        this.budgets = budgets;
        this.balances = balances;
        this.repository = repository;
        this.evictions = evictions;
        this.callers = callers;
        this.clock = clock;
    }

    /**
     * How a budget came to stand as it does: before + changes - used = remaining. Amounts are
     * micro-GPU-seconds.
     *
     * @param because the same as a sentence
     * @param before what the last period left or owed; absent if the budget is unlimited
     * @param namespaces used by namespace
     * @param largest the pods that used most; without uids and names where who asks may not get
     *     pods
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Explanation(
            String budget,
            Instant asOf,
            Instant periodStart,
            String standing,
            String because,
            @Nullable Instant exhaustedAt,
            @Nullable Long before,
            @Nullable List<BalanceChange> changes,
            long used,
            @Nullable Long remaining,
            TreeMap<String, Long> namespaces,
            List<PodUse> largest) {}

    /**
     * A budget as of an instant. Amounts are micro-GPU-seconds.
     *
     * @param granted absent while it was unlimited
     * @param remaining negative by what was overrun; absent while it was unlimited
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record BalanceView(
            String budget,
            Instant at,
            Instant periodStart,
            @Nullable Instant periodEnd,
            @Nullable Long granted,
            long used,
            @Nullable Long remaining,
            String standing,
            @Nullable String grantedMinutes,
            String usedMinutes,
            @Nullable String remainingMinutes) {

        static BalanceView of(String budget, Instant at, Balance balance) {
            GpuTime granted = balance.granted();
            GpuTime left = balance.remaining();
            return new BalanceView(
                    budget,
                    at,
                    balance.period().start(),
                    balance.period().end(),
                    granted == null ? null : granted.microGpuSeconds(),
                    balance.used().microGpuSeconds(),
                    left == null ? null : left.microGpuSeconds(),
                    left == null ? "Unlimited" : left.isPositive() ? "InBudget" : "OverBudget",
                    granted == null ? null : granted.minutes(),
                    balance.used().minutes(),
                    left == null ? null : left.minutes());
        }
    }

    /**
     * What was left at an instant, as the ledger knows it today.
     *
     * @param at a whole second in the past; now if absent
     */
    @GetMapping("/api/v1/budgets/{budget}/balance")
    BalanceView balance(
            @PathVariable String budget, @RequestParam(required = false) @Nullable Instant at) {
        Instant instant = Span.past(at, clock.instant());
        return balances.at(budget, instant)
                .map(balance -> BalanceView.of(budget, instant, balance))
                .orElseThrow(() -> StatementController.unknown(budget, instant));
    }

    /** Why a budget is over its time, or is not: which charges, grants and debts made it so. */
    @GetMapping({"/api/v1/budgets/{budget}/explain", UsageApi.BUDGET + "/explain"})
    Explanation budget(@PathVariable String budget, Authentication who) {
        BudgetState state = budgets.existing(budget);
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Instant start = state.period().start();
        Stretch stretch =
                balances.stretch(budget, start, now)
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "Budget " + budget + " has not been counted yet"));
        AccountStatement statement = stretch.statement();
        List<PodUse> largest = repository.largest(budget, start, now, LARGEST);
        Set<String> shown =
                callers.podsShown(
                        Callers.of(who), largest.stream().map(PodUse::namespace).toList());
        Instant asOf = now.isBefore(state.asOf()) ? state.asOf() : now;
        return new Explanation(
                budget,
                now,
                start,
                state.standingWord(asOf),
                because(statement, stretch.total(), start),
                state.exhaustedAt(),
                statement == null ? null : statement.opening().microGpuSeconds(),
                statement == null ? null : statement.changes(),
                stretch.total().microGpuSeconds(),
                statement == null ? null : statement.closing().microGpuSeconds(),
                stretch.byNamespace(),
                largest.stream()
                        .map(pod -> shown.contains(pod.namespace()) ? pod : pod.withoutPod())
                        .toList());
    }

    /**
     * Evictions of any cause, latest first. A receipt names victim and waiter; who else was
     * considered has a name where who asks may get pods.
     *
     * @param namespace only of pods of this namespace
     * @param pod only of the pod with this uid, as victim or as waiter
     * @param after where the page before ended, from its header {@code Link}
     */
    @GetMapping("/api/v1/evictions")
    ResponseEntity<List<Receipt>> evictions(
            @RequestParam(required = false) @Nullable String namespace,
            @RequestParam(required = false) @Nullable UUID pod,
            @RequestParam(defaultValue = "100") int limit,
            @RequestParam(required = false) @Nullable String after,
            Authentication who) {
        Caller caller = Callers.of(who);
        return page(
                limit,
                evictions.receipts(
                        NamespaceParameter.checked(namespace),
                        pod,
                        place(after),
                        Page.size(limit),
                        there -> callers.mayReadPods(caller, there)));
    }

    /**
     * The same of the namespaces that a budget pays for now; of those alone where who asks may get
     * pods, since a receipt names victim and waiter.
     */
    @GetMapping(UsageApi.BUDGET + "/evictions")
    ResponseEntity<List<Receipt>> evictionsOf(
            @PathVariable String budget,
            @RequestParam(defaultValue = "100") int limit,
            @RequestParam(required = false) @Nullable String after,
            Authentication who) {
        Caller caller = Callers.of(who);
        Set<String> shown =
                callers.podsShown(
                        caller,
                        budgets.existing(budget).namespacesAt(clock.instant()).stream()
                                .map(NamespaceUse::namespace)
                                .toList());
        return page(
                limit,
                evictions.receipts(
                        shown,
                        place(after),
                        Page.size(limit),
                        there -> callers.mayReadPods(caller, there)));
    }

    private static @Nullable String place(@Nullable String after) {
        if (after != null && !ReceiptCursor.isCursor(after)) {
            throw Place.unreadable(after);
        }
        return after;
    }

    private static ResponseEntity<List<Receipt>> page(int limit, List<Receipt> receipts) {
        return Page.of(receipts, limit, receipt -> receipt.cursor().toString());
    }

    private static String because(
            @Nullable AccountStatement statement, GpuTime used, Instant start) {
        if (statement == null) {
            return "It is unlimited; %s GPU-minutes were used since %s"
                    .formatted(used.minutes(), start);
        }
        Map<AccountStatement.Kind, GpuTime> sums =
                statement.changes().stream()
                        .collect(
                                Collectors.toMap(
                                        BalanceChange::kind,
                                        change -> new GpuTime(change.amount()),
                                        GpuTime::plus,
                                        TreeMap::new));
        var terms = new StringBuilder(statement.opening().minutes() + " before " + start);
        sums.forEach((kind, sum) ->
                terms.append(sum.microGpuSeconds() < 0 ? " - " : " + ")
                        .append(new GpuTime(Math.abs(sum.microGpuSeconds())).minutes())
                        .append(' ')
                        .append(word(kind)));
        return "%s - %s used = %s GPU-minutes left"
                .formatted(terms, used.minutes(), statement.closing().minutes());
    }

    private static String word(AccountStatement.Kind kind) {
        return switch (kind) {
            case Allowance -> "allowance";
            case Rollover -> "rolled over";
            case Grant -> "granted";
            case Expired -> "expired";
            case Revoked -> "revoked";
            case WrittenOff -> "written off";
            case LateUsage -> "late usage";
        };
    }
}

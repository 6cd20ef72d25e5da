package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.GpuBudgetStatus.CreditEntry;
import io.gpusharing.budget.GpuBudgetStatus.NamespaceUse;
import io.gpusharing.budget.GpuBudgetStatus.PeriodEdges;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.timekeeper.budget.notify.BudgetNotification;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes a budget's state as the {@code status} of its {@code GpuBudget}. */
public final class StatusDocument {

    static final String EXHAUSTED = "Exhausted";
    public static final String THRESHOLD = "ThresholdReached";
    public static final String ENDS_SOON = "EndsSoon";
    static final String NAMESPACES = "NamespacesAssigned";
    static final String FOUND = "NamespacesFound";
    static final String UNTRUSTED = "ChargeBasisUntrusted";
    public static final String QUOTA = "QuotaFound";
    static final String UNCOUNTED = "GpusUncounted";

    private StatusDocument() {}

    /**
     * The status as of an instant.
     *
     * @param alerts that its conditions tell
     * @param unmatched names in its list that bring it nothing; empty while that is not known
     * @param uncounted GPUs that nobody is charged for; empty while that is not known
     * @param before the status that stands there; its conditions keep their transition times
     */
    public static GpuBudgetStatus of(
            BudgetState state,
            Instant now,
            Alerts alerts,
            Optional<UnmatchedNamespaces> unmatched,
            Optional<Uncounted> uncounted,
            @Nullable GpuBudgetStatus before) {
        BudgetState at = state.at(now);
        Instant asOf = at.asOf();
        Optional<GpuTime> granted = at.granted(asOf);
        Optional<GpuTime> remaining = at.remaining(asOf);
        GpuTime used = at.used(asOf);
        Instant exhausted = at.exhaustedAt();
        return new GpuBudgetStatus(
                at.generation(),
                asOf.toString(),
                new PeriodEdges(at.period().start().toString(), text(at.period().end())),
                granted.map(GpuTime::microGpuSeconds).orElse(null),
                used.microGpuSeconds(),
                remaining.map(GpuTime::microGpuSeconds).orElse(null),
                at.rate(),
                at.line()
                        .map(line -> line.credits().stream().map(StatusDocument::credit).toList())
                        .orElse(null),
                text(exhausted),
                at.standing(asOf).word(),
                granted.map(GpuTime::minutes).orElse(null),
                used.minutes(),
                remaining.map(GpuTime::minutes).orElse(null),
                BigDecimal.valueOf(at.rate(), 6).stripTrailingZeros().toPlainString(),
                at.namespaces().stream().map(StatusDocument::namespace).toList(),
                conditions(at, alerts, unmatched, uncounted, before));
    }

    private static CreditEntry credit(Credit credit) {
        return new CreditEntry(
                credit.source(),
                credit.remaining().microGpuSeconds(),
                credit.from().toString(),
                text(credit.until()));
    }

    private static NamespaceUse namespace(
            io.gpusharing.timekeeper.budget.account.NamespaceUse use) {
        return new NamespaceUse(
                use.namespace(), use.used().microGpuSeconds(), use.used().minutes(), use.rate());
    }

    private static List<Condition> conditions(
            BudgetState state,
            Alerts alerts,
            Optional<UnmatchedNamespaces> unmatched,
            Optional<Uncounted> uncounted,
            @Nullable GpuBudgetStatus before) {
        boolean over = state.standing(state.asOf()) instanceof OverBudget;
        List<Conflict> conflicts = state.conflicts();
        var conditions = new ArrayList<>(always(state, before, over, conflicts));
        if (state.line().isPresent()) {
            conditions.add(threshold(state, alerts.percent(), before));
            conditions.add(endsSoon(state, alerts.endsSoon(), before));
        }
        unmatched
                .map(it -> found(state, it, before))
                // After a restart what was said last stands until it is looked at again.
                .or(() -> known(before, FOUND))
                .ifPresent(conditions::add);
        if (state.spec().chargeBy() == ChargeBy.Utilization) {
            conditions.add(measured(state, before));
        }
        if (state.spec().share().reference() == Reference.FromQuota) {
            conditions.add(quota(state, before));
        }
        if (state.invalidSpec() == null) {
            uncounted(state, uncounted, before).ifPresent(conditions::add);
        }
        return List.copyOf(conditions);
    }

    private static Condition threshold(
            BudgetState state, int percent, @Nullable GpuBudgetStatus before) {
        String granted = state.granted(state.asOf()).map(GpuTime::minutes).orElse("");
        return condition(
                state,
                before,
                THRESHOLD,
                percent > 0,
                percent > 0 ? BudgetNotification.USED + percent : "BelowThresholds",
                percent > 0
                        ? "%d %% of %s GPU-minutes are used".formatted(percent, granted)
                        : "No percentage of spec.warnAtPercent is used");
    }

    private static Condition endsSoon(
            BudgetState state, boolean soon, @Nullable GpuBudgetStatus before) {
        String otherwise =
                state.standing(state.asOf()) instanceof OverBudget
                        ? "It is used up"
                        : "It lasts for more than 15 minutes at the present rate";
        return condition(
                state,
                before,
                ENDS_SOON,
                soon,
                soon ? "LastsMinutes" : "NotSoon",
                soon ? "At the present rate nothing is left at " + state.exhaustedAt() : otherwise);
    }

    private static Condition found(
            BudgetState state, UnmatchedNamespaces unmatched, @Nullable GpuBudgetStatus before) {
        String reason =
                unmatched.none()
                        ? "AllFound"
                        : unmatched.missing().isEmpty() ? "Excluded" : "NotFound";
        return condition(state, before, FOUND, unmatched.none(), reason, unmatched.message());
    }

    private static Condition measured(BudgetState state, @Nullable GpuBudgetStatus before) {
        Integer blind = state.unmeasured();
        if (blind == null) {
            // After a restart what was said last stands until it is looked at again.
            return known(before, UNTRUSTED)
                    .orElseGet(() ->
                            condition(
                                    state,
                                    before,
                                    UNTRUSTED,
                                    "Unknown",
                                    "NotSettledYet",
                                    "What node agents measure is looked at with the first settlement"));
        }
        return condition(
                state,
                before,
                UNTRUSTED,
                blind > 0,
                blind > 0 ? "NoNodeAgent" : "Measured",
                blind > 0
                        ? "At the last settlement %s measured by no node agent and charged by allocation"
                                .formatted(
                                        blind == 1
                                                ? "1 running pod was"
                                                : blind + " running pods were")
                        : "At the last settlement no running pod was without a node agent");
    }

    private static Condition quota(BudgetState state, @Nullable GpuBudgetStatus before) {
        boolean found = state.withoutQuota().isEmpty();
        return condition(
                state,
                before,
                QUOTA,
                found,
                found ? "QuotaFound" : "NoQuota",
                found
                        ? "The quota of each namespace counts as one"
                        : "A whole GPU counts as one in "
                                + String.join(", ", state.withoutQuota())
                                + ": no ResourceQuota without scopes limits requests.tencent.com/vcuda-core"
                                + " and requests.tencent.com/vcuda-memory there");
    }

    /** Stands only while there are any: a site that counts all its GPUs need not read of it. */
    private static Optional<Condition> uncounted(
            BudgetState state, Optional<Uncounted> uncounted, @Nullable GpuBudgetStatus before) {
        return uncounted.isEmpty()
                // After a restart what was said last stands until the nodes are looked at again.
                ? known(before, UNCOUNTED)
                : uncounted
                        .filter(it -> !it.none())
                        .map(it ->
                                condition(
                                        state,
                                        before,
                                        UNCOUNTED,
                                        true,
                                        "ResourceNotRead",
                                        it.message()));
    }

    /** What a status says of GPUs that nobody is charged for; empty if nothing. */
    static String uncounted(GpuBudgetStatus status) {
        return known(status, UNCOUNTED).map(Condition::message).orElse("");
    }

    private static List<Condition> always(
            BudgetState state,
            @Nullable GpuBudgetStatus before,
            boolean over,
            List<Conflict> conflicts) {
        InvalidSpec invalidSpec = state.invalidSpec();
        return List.of(
                condition(
                        state,
                        before,
                        PublishedBudget.UNDERSTOOD,
                        invalidSpec == null,
                        invalidSpec == null ? "AsWritten" : "NotUnderstood",
                        invalidSpec == null
                                ? "The spec counts as it is written"
                                : invalidSpec.message()
                                        + "; until then this budget is counted and has no limit"),
                condition(
                        state,
                        before,
                        EXHAUSTED,
                        over,
                        over ? "BudgetUsed" : "TimeLeft",
                        over
                                ? "All time of this period is used; spec.onExhausted is "
                                        + state.spec().onExhausted()
                                : "There is time left"),
                condition(
                        state,
                        before,
                        NAMESPACES,
                        conflicts.isEmpty(),
                        conflicts.isEmpty() ? "AllAssigned" : "NamespaceTaken",
                        conflicts.isEmpty()
                                ? "No other budget keeps a namespace of the list"
                                : conflicts.stream()
                                        .map(it ->
                                                it.namespace()
                                                        + " draws on the older budget "
                                                        + it.keeper())
                                        .collect(Collectors.joining("; "))));
    }

    private static Condition condition(
            BudgetState state,
            @Nullable GpuBudgetStatus before,
            String type,
            boolean value,
            String reason,
            String message) {
        return condition(state, before, type, value ? "True" : "False", reason, message);
    }

    private static Condition condition(
            BudgetState state,
            @Nullable GpuBudgetStatus before,
            String type,
            String status,
            String reason,
            String message) {
        String since =
                known(before, type)
                        .filter(it -> it.status().equals(status))
                        .map(Condition::lastTransitionTime)
                        .orElseGet(() -> state.asOf().toString());
        return new Condition(type, status, state.generation(), since, reason, message);
    }

    private static Optional<Condition> known(@Nullable GpuBudgetStatus before, String type) {
        return before == null || before.conditions() == null
                ? Optional.empty()
                : before.conditions().stream().filter(it -> it.type().equals(type)).findFirst();
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}

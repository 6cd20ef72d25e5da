package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.GpuBudgetStatus.LotEntry;
import io.gpusharing.budget.GpuBudgetStatus.NamespaceUse;
import io.gpusharing.budget.GpuBudgetStatus.PeriodEdges;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Lot;
import io.gpusharing.budget.Misread;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.timekeeper.budget.Assignment.Conflict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes a budget's state as the {@code status} of its {@code GpuBudget}. */
final class StatusDocument {

    static final String EXHAUSTED = "Exhausted";
    static final String NAMESPACES = "NamespacesAssigned";
    static final String UNTRUSTED = "ChargeBasisUntrusted";
    static final String QUOTA = "QuotaFound";

    private StatusDocument() {}

    /**
     * The status as of an instant.
     *
     * @param before the status that stands there; its conditions keep their transition times
     */
    static GpuBudgetStatus of(BudgetState state, Instant now, @Nullable GpuBudgetStatus before) {
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
                        .map(line -> line.lots().stream().map(StatusDocument::lot).toList())
                        .orElse(null),
                text(exhausted),
                at.standing(asOf).word(),
                granted.map(GpuTime::minutes).orElse(null),
                used.minutes(),
                remaining.map(GpuTime::minutes).orElse(null),
                at.namespaces().stream().map(StatusDocument::namespace).toList(),
                conditions(at, before));
    }

    private static LotEntry lot(Lot lot) {
        return new LotEntry(
                lot.source(),
                lot.remaining().microGpuSeconds(),
                lot.from().toString(),
                text(lot.until()));
    }

    private static NamespaceUse namespace(io.gpusharing.timekeeper.budget.NamespaceUse use) {
        return new NamespaceUse(
                use.namespace(), use.used().microGpuSeconds(), use.used().minutes(), use.rate());
    }

    private static List<Condition> conditions(BudgetState state, @Nullable GpuBudgetStatus before) {
        boolean over = state.standing(state.asOf()) instanceof OverBudget;
        List<Conflict> conflicts = state.conflicts();
        var conditions = new ArrayList<>(always(state, before, over, conflicts));
        if (state.spec().chargeBy() == ChargeBy.Utilization) {
            conditions.add(measured(state, before));
        }
        if (state.spec().share().reference() == Reference.FromQuota) {
            conditions.add(quota(state, before));
        }
        return List.copyOf(conditions);
    }

    private static Condition measured(BudgetState state, @Nullable GpuBudgetStatus before) {
        boolean blind = state.unmeasured() > 0;
        return condition(
                state,
                before,
                UNTRUSTED,
                blind,
                blind ? "NoNodeAgent" : "Measured",
                blind
                        ? state.unmeasured()
                                + " running pods are measured by no node agent and are"
                                + " charged by their allocation"
                        : "Every running pod is measured by a node agent");
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

    private static List<Condition> always(
            BudgetState state,
            @Nullable GpuBudgetStatus before,
            boolean over,
            List<Conflict> conflicts) {
        Misread misread = state.misread();
        return List.of(
                condition(
                        state,
                        before,
                        PublishedBudget.UNDERSTOOD,
                        misread == null,
                        misread == null ? "AsWritten" : "NotUnderstood",
                        misread == null
                                ? "The spec counts as it is written"
                                : misread.message()
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
                                ? "Every namespace of the list draws on this budget"
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
        String status = value ? "True" : "False";
        String since =
                before == null || before.conditions() == null
                        ? null
                        : before.conditions().stream()
                                .filter(it -> it.type().equals(type))
                                .filter(it -> it.status().equals(status))
                                .map(Condition::lastTransitionTime)
                                .findFirst()
                                .orElse(null);
        return new Condition(
                type,
                status,
                state.generation(),
                Objects.requireNonNullElse(since, state.asOf().toString()),
                reason,
                message);
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}

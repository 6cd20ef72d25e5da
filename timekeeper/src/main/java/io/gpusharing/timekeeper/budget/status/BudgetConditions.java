package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.timekeeper.budget.notify.BudgetNotification;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes the conditions of a budget's status. */
public final class BudgetConditions {

    static final String EXHAUSTED = "Exhausted";
    public static final String THRESHOLD = "ThresholdReached";
    public static final String ENDS_SOON = "EndsSoon";
    static final String NAMESPACES = "NamespacesAssigned";
    static final String FOUND = "NamespacesFound";
    static final String UNTRUSTED = "ChargeBasisUntrusted";
    public static final String QUOTA = "QuotaFound";
    static final String UNCOUNTED = "GpusUncounted";
    static final String UNREADABLE = "ObjectsUnreadable";

    /** Those that are not met where a spec does not do what it says. */
    static final List<String> OF_THE_SPEC = List.of(PublishedBudget.UNDERSTOOD, NAMESPACES, FOUND);

    private final BudgetState state;
    private final @Nullable GpuBudgetStatus before;
    private final List<Condition> conditions = new ArrayList<>();

    private BudgetConditions(BudgetState state, @Nullable GpuBudgetStatus before) {
        this.state = state;
        this.before = before;
    }

    /**
     * The conditions as of the state's instant; parameters as of {@link Publication#document}.
     *
     * @param before the status that stands there: a condition that says the same keeps its
     *     transition time
     */
    static List<Condition> of(
            BudgetState state,
            Alerts alerts,
            Optional<UnmatchedNamespaces> unmatched,
            Optional<Uncounted> uncounted,
            Optional<String> unreadable,
            @Nullable GpuBudgetStatus before) {
        var conditions = new BudgetConditions(state, before);
        conditions.understood();
        conditions.exhausted();
        conditions.assigned();
        if (state.line().isPresent()) {
            conditions.threshold(alerts.percent());
            conditions.endsSoon(alerts.endsSoon());
        }
        // After a restart what was said last stands until somebody looks again; so do others below.
        unmatched.ifPresentOrElse(conditions::found, () -> conditions.repeat(FOUND));
        if (state.spec().chargeBy() == ChargeBy.Utilization) {
            conditions.measured();
        }
        if (state.spec().share().reference() == Reference.FromQuota) {
            conditions.quota();
        }
        if (state.invalidSpec() == null) {
            uncounted.ifPresentOrElse(conditions::uncounted, () -> conditions.repeat(UNCOUNTED));
        }
        unreadable.ifPresentOrElse(conditions::unreadable, () -> conditions.repeat(UNREADABLE));
        return List.copyOf(conditions.conditions);
    }

    private void understood() {
        InvalidSpec invalid = state.invalidSpec();
        add(
                PublishedBudget.UNDERSTOOD,
                invalid == null,
                invalid == null ? "AsWritten" : "NotUnderstood",
                invalid == null
                        ? "The spec counts as it is written"
                        : invalid.message()
                                + "; until then this budget is counted and has no limit");
    }

    private boolean isOver() {
        return state.standing(state.asOf()) instanceof OverBudget;
    }

    private void exhausted() {
        boolean over = isOver();
        add(
                EXHAUSTED,
                over,
                over ? "BudgetUsed" : "TimeLeft",
                over
                        ? "All time of this period is used; spec.onExhausted is "
                                + state.spec().onExhausted()
                        : "There is time left");
    }

    private void assigned() {
        List<Conflict> conflicts = state.conflicts();
        boolean all = conflicts.isEmpty();
        add(
                NAMESPACES,
                all,
                all ? "AllAssigned" : "NamespaceTaken",
                all
                        ? "No other budget keeps a namespace of the list"
                        : conflicts.stream()
                                .map(it ->
                                        it.namespace()
                                                + " draws on the older budget "
                                                + it.keeper())
                                .collect(Collectors.joining("; ")));
    }

    private void threshold(int percent) {
        String granted = state.granted(state.asOf()).map(GpuTime::minutes).orElse("");
        boolean reached = percent > 0;
        add(
                THRESHOLD,
                reached,
                reached ? BudgetNotification.USED + percent : "BelowThresholds",
                reached
                        ? "%d %% of %s GPU-minutes are used".formatted(percent, granted)
                        : "No percentage of spec.warnAtPercent is used");
    }

    private void endsSoon(boolean soon) {
        String otherwise =
                isOver()
                        ? "It is used up"
                        : "It lasts for more than 15 minutes at the present rate";
        add(
                ENDS_SOON,
                soon,
                soon ? "LastsMinutes" : "NotSoon",
                soon ? "At the present rate nothing is left at " + state.exhaustedAt() : otherwise);
    }

    private void found(UnmatchedNamespaces unmatched) {
        String missing = unmatched.missing().isEmpty() ? "Excluded" : "NotFound";
        add(FOUND, unmatched.none(), unmatched.none() ? "AllFound" : missing, unmatched.message());
    }

    private void measured() {
        Integer blind = state.unmeasured();
        if (blind == null) {
            if (known(before, UNTRUSTED).isPresent()) {
                repeat(UNTRUSTED);
            } else {
                add(
                        UNTRUSTED,
                        "Unknown",
                        "NotSettledYet",
                        "What node agents measure is looked at with the first settlement");
            }
            return;
        }
        add(
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

    private void quota() {
        boolean found = state.withoutQuota().isEmpty();
        add(
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
    private void uncounted(Uncounted uncounted) {
        if (!uncounted.none()) {
            add(UNCOUNTED, true, "ResourceNotRead", uncounted.message());
        }
    }

    /** Stands only while there are any, like the one above. */
    private void unreadable(String message) {
        if (!message.isEmpty()) {
            add(UNREADABLE, true, "Unreadable", message);
        }
    }

    /** What a status says of a condition that stands only now and then; empty if nothing. */
    static String message(GpuBudgetStatus status, String type) {
        return known(status, type).map(Condition::message).orElse("");
    }

    private void add(String type, boolean value, String reason, String message) {
        add(type, value ? "True" : "False", reason, message);
    }

    private void add(String type, String status, String reason, String message) {
        String since =
                known(before, type)
                        .filter(it -> it.status().equals(status))
                        .map(Condition::lastTransitionTime)
                        .orElseGet(() -> state.asOf().toString());
        conditions.add(new Condition(type, status, state.generation(), since, reason, message));
    }

    private void repeat(String type) {
        known(before, type).ifPresent(conditions::add);
    }

    private static Optional<Condition> known(@Nullable GpuBudgetStatus before, String type) {
        return before == null || before.conditions() == null
                ? Optional.empty()
                : before.conditions().stream().filter(it -> it.type().equals(type)).findFirst();
    }
}

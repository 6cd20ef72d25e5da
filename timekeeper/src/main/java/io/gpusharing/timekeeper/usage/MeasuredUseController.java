package io.gpusharing.timekeeper.usage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.statement.PodCharges;
import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.usage.MeasuredUse.Measured;
import io.gpusharing.timekeeper.web.NamespaceParameter;
import io.gpusharing.timekeeper.web.Page;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What was measured beside what was charged. */
@RestController
@RequestMapping("/api/v1/usage")
class MeasuredUseController {

    private final PodCharges charges;
    private final MeasuredUse measured;
    private final Budgets budgets;
    private final Clock clock;

    MeasuredUseController(PodCharges charges, MeasuredUse measured, Budgets budgets, Clock clock) {
        this.charges = charges;
        this.measured = measured;
        this.budgets = budgets;
        this.clock = clock;
    }

    /**
     * A pod's charge and its measured use.
     *
     * @param use absent if nobody has measured it
     * @param busyPercent how much of its share it was busy, while it was watched; absent where that
     *     is not certain
     * @param busyAtMostPercent the most that it can have been; absent where it is certain
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record PodUse(
            @JsonUnwrapped PodCharge charge,
            @Nullable Measured use,
            @Nullable String busyPercent,
            @Nullable String busyAtMostPercent) {

        static PodUse of(PodCharge charge, @Nullable Measured use) {
            Busy busy = use == null ? null : use.busy(charge.busyPart());
            return new PodUse(
                    charge,
                    use,
                    busy == null ? null : busy.percent(),
                    busy == null ? null : busy.atMostPercent());
        }
    }

    /**
     * A budget's period in five columns.
     *
     * @param grantedMinutes absent if it is unlimited
     * @param measuredMinutes what its pods were measured to have done
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record BudgetUse(
            String budget,
            @Nullable String grantedMinutes,
            String usedMinutes,
            String measuredMinutes,
            String standing) {}

    /**
     * Pods by uid.
     *
     * @param namespace only of this namespace
     * @param after uid of the last pod of the page before
     */
    @GetMapping("/pods")
    ResponseEntity<List<PodUse>> pods(
            @RequestParam(required = false) @Nullable String namespace,
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable UUID after) {
        List<PodCharge> page =
                charges.page(
                        NamespaceParameter.checked(namespace),
                        after,
                        Page.size(limit),
                        clock.instant());
        Map<UUID, Measured> uses = measured.of(page.stream().map(PodCharge::uid).toList());
        List<PodUse> pods =
                page.stream().map(charge -> PodUse.of(charge, uses.get(charge.uid()))).toList();
        return Page.of(pods, limit, pod -> pod.charge().uid().toString());
    }

    /** All budgets by name. */
    @GetMapping("/budgets")
    List<BudgetUse> budgets() {
        Instant now = clock.instant();
        return budgets.states().values().stream()
                .sorted(Comparator.comparing(BudgetState::name))
                .map(state -> row(state, now))
                .toList();
    }

    private BudgetUse row(BudgetState state, Instant now) {
        Instant at = now.isBefore(state.asOf()) ? state.asOf() : now;
        GpuTime done = measured.ofBudget(state.name(), state.period().start());
        return new BudgetUse(
                state.name(),
                state.granted(at).map(GpuTime::minutes).orElse(null),
                state.used(at).minutes(),
                done.minutes(),
                state.standingWord(at));
    }
}

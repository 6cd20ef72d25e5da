package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.web.Page;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** How budgets stand now. */
@RestController
@RequestMapping("/api/v1/budgets")
class BudgetController {

    private final Budgets budgets;
    private final Clock clock;

    BudgetController(Budgets budgets, Clock clock) {
        this.budgets = budgets;
        this.clock = clock;
    }

    /**
     * Budgets by name.
     *
     * @param after name of the last budget of the page before
     */
    @GetMapping
    ResponseEntity<List<BudgetView>> all(
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable String after) {
        Instant now = clock.instant();
        List<BudgetView> page =
                budgets.states().values().stream()
                        .sorted(Comparator.comparing(BudgetState::name))
                        .filter(state -> after == null || state.name().compareTo(after) > 0)
                        .limit(Page.size(limit))
                        .map(state -> BudgetView.of(state, now))
                        .toList();
        return Page.of(page, limit, BudgetView::name);
    }

    /** One budget. */
    @GetMapping("/{budget}")
    BudgetView one(@PathVariable String budget) {
        return BudgetView.of(budgets.existing(budget), clock.instant());
    }
}

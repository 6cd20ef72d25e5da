package io.gpusharing.timekeeper.api;

import io.gpusharing.timekeeper.budget.BudgetState;
import io.gpusharing.timekeeper.budget.Budgets;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

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

    /** All budgets, by name. */
    @GetMapping
    List<BudgetView> all() {
        Instant now = clock.instant();
        return budgets.states().values().stream()
                .sorted(Comparator.comparing(BudgetState::name))
                .map(state -> BudgetView.of(state, now))
                .toList();
    }

    /** One budget. */
    @GetMapping("/{name}")
    BudgetView one(@PathVariable String name) {
        return budgets.state(name)
                .map(state -> BudgetView.of(state, clock.instant()))
                .orElseThrow(() ->
                        new ResponseStatusException(
                                HttpStatus.NOT_FOUND, "There is no GpuBudget named " + name));
    }
}

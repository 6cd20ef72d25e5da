package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.OverBudget;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.time.Clock;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/** Budgets as gauges, in GPU-seconds and GPUs, labelled by budget only. */
@Component
class BudgetMetrics {

    private static final double MICROS = 1e6;

    private final Budgets budgets;
    private final Clock clock;
    private final MultiGauge used;
    private final MultiGauge granted;
    private final MultiGauge rate;
    private final MultiGauge over;
    private volatile java.util.Set<String> shown = java.util.Set.of();

    BudgetMetrics(MeterRegistry registry, Budgets budgets, Clock clock) {
        this.budgets = budgets;
        this.clock = clock;
        this.used =
                MultiGauge.builder("gpusharing.budget.used")
                        .baseUnit("gpu_seconds")
                        .description("Used in the present period")
                        .register(registry);
        this.granted =
                MultiGauge.builder("gpusharing.budget.granted")
                        .baseUnit("gpu_seconds")
                        .description("Granted for the present period")
                        .register(registry);
        this.rate =
                MultiGauge.builder("gpusharing.budget.rate")
                        .baseUnit("gpus")
                        .description("GPUs held now")
                        .register(registry);
        this.over =
                MultiGauge.builder("gpusharing.budget.over")
                        .description("1 while the budget is used up")
                        .register(registry);
        Gauge.builder("gpusharing.budgets", budgets, it -> it.states().size()).register(registry);
        Gauge.builder("gpusharing.budgets.not.understood", budgets, BudgetMetrics::misread)
                .description(
                        "Budgets whose spec makes no sense and that are counted without a limit")
                .register(registry);
        budgets.listen(this::show);
    }

    private static long misread(Budgets budgets) {
        return budgets.states().values().stream().filter(state -> state.misread() != null).count();
    }

    private void show(Map<String, BudgetState> states) {
        if (!states.keySet().equals(shown)) {
            register(used, states, state -> state.used(clock.instant()).microGpuSeconds() / MICROS);
            register(
                    granted,
                    states,
                    state ->
                            state.granted(clock.instant())
                                    .map(GpuTime::microGpuSeconds)
                                    .map(micros -> micros / MICROS)
                                    .orElse(Double.POSITIVE_INFINITY));
            register(rate, states, state -> state.rate() / MICROS);
            register(
                    over,
                    states,
                    state -> state.standing(clock.instant()) instanceof OverBudget ? 1 : 0);
            shown = states.keySet();
        }
    }

    /** Each gauge asks for the present state, so that it is right at the moment it is read. */
    private void register(
            MultiGauge gauge,
            Map<String, BudgetState> states,
            ToDoubleFunction<BudgetState> value) {
        gauge.register(
                states.keySet().stream()
                        .map(name ->
                                Row.of(
                                        Tags.of("budget", name),
                                        () ->
                                                budgets.state(name)
                                                        .map(value::applyAsDouble)
                                                        .orElse(Double.NaN)))
                        .collect(Collectors.toList()),
                true);
    }
}

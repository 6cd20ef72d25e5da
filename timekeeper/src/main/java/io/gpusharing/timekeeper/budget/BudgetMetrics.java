package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.OverBudget;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Budgets as gauges, in GPU-seconds and GPUs, labelled by budget and by its namespaces. */
@Component
class BudgetMetrics {

    private static final double MICROS = 1e6;

    private final Budgets budgets;
    private final Clock clock;
    private final MeterRegistry registry;
    private final MultiGauge used;
    private final MultiGauge granted;
    private final MultiGauge rate;
    private final MultiGauge over;
    private final MultiGauge exhaustion;
    private final MultiGauge namespaceUsed;
    private final MultiGauge namespaceRate;

    /** The namespaces of each budget that have gauges. */
    private volatile Map<String, List<String>> shown = Map.of();

    BudgetMetrics(MeterRegistry registry, Budgets budgets, Clock clock) {
        this.budgets = budgets;
        this.clock = clock;
        this.registry = registry;
        this.used = gauge("budget.used", "gpu_seconds", "Used in the present period");
        this.granted = gauge("budget.granted", "gpu_seconds", "Granted for the present period");
        this.rate = gauge("budget.rate", "gpus", "GPUs held now");
        this.over = gauge("budget.over", null, "1 while the budget is used up");
        this.exhaustion =
                gauge(
                        "budget.exhaustion.timestamp",
                        "seconds",
                        "When its time ends or ended at the present rate; infinite if not in this"
                                + " period");
        this.namespaceUsed =
                gauge("namespace.used", "gpu_seconds", "Used by a namespace in this period");
        this.namespaceRate = gauge("namespace.rate", "gpus", "GPUs that a namespace holds now");
        Gauge.builder("gpusharing.budgets", budgets, it -> it.states().size())
                .description("Budgets that there are")
                .register(registry);
        Gauge.builder("gpusharing.budgets.not.understood", budgets, BudgetMetrics::invalidSpec)
                .description(
                        "Budgets whose spec makes no sense and that are counted without a limit")
                .register(registry);
        budgets.listen(this::show);
    }

    private static long invalidSpec(Budgets budgets) {
        return budgets.states().values().stream()
                .filter(state -> state.invalidSpec() != null)
                .count();
    }

    private MultiGauge gauge(String name, @Nullable String unit, String description) {
        return MultiGauge.builder("gpusharing." + name)
                .baseUnit(unit)
                .description(description)
                .register(registry);
    }

    private synchronized void show(Map<String, BudgetState> states) {
        Map<String, List<String>> present = new TreeMap<>();
        states.forEach((name, state) -> present.put(name, namespaces(state)));
        if (present.equals(shown)) {
            return;
        }
        shown = present;
        ofBudgets(used, state -> gpuSeconds(state.used(clock.instant())));
        ofBudgets(
                granted,
                state ->
                        state.granted(clock.instant())
                                .map(BudgetMetrics::gpuSeconds)
                                .orElse(Double.POSITIVE_INFINITY));
        ofBudgets(rate, state -> state.rate() / MICROS);
        ofBudgets(over, state -> state.standing(clock.instant()) instanceof OverBudget ? 1 : 0);
        ofBudgets(exhaustion, state -> seconds(state.exhaustedAt()));
        ofNamespaces(namespaceUsed, use -> gpuSeconds(use.used()));
        ofNamespaces(namespaceRate, use -> use.rate() / MICROS);
    }

    private static List<String> namespaces(BudgetState state) {
        return state.namespaces().stream().map(NamespaceUse::namespace).toList();
    }

    private static double gpuSeconds(GpuTime time) {
        return time.microGpuSeconds() / MICROS;
    }

    private static double seconds(@Nullable Instant at) {
        return at == null ? Double.POSITIVE_INFINITY : at.toEpochMilli() / 1e3;
    }

    /** Each gauge asks for the present state, so that it is right at the moment it is read. */
    private void ofBudgets(MultiGauge gauge, ToDoubleFunction<BudgetState> value) {
        gauge.register(
                shown.keySet().stream()
                        .<Row<?>>map(
                                name -> Row.of(Tags.of("budget", name), () -> read(name, value)))
                        .toList(),
                true);
    }

    private void ofNamespaces(MultiGauge gauge, ToDoubleFunction<NamespaceUse> value) {
        var rows = new ArrayList<Row<?>>();
        shown.forEach((name, namespaces) ->
                namespaces.forEach(namespace ->
                        rows.add(
                                Row.of(
                                        Tags.of("budget", name, "namespace", namespace),
                                        () -> read(name, it -> of(it, namespace, value))))));
        gauge.register(rows, true);
    }

    private double of(BudgetState state, String namespace, ToDoubleFunction<NamespaceUse> value) {
        return state.namespacesAt(clock.instant()).stream()
                .filter(use -> use.namespace().equals(namespace))
                .mapToDouble(value)
                .findFirst()
                .orElse(Double.NaN);
    }

    private double read(String budget, ToDoubleFunction<BudgetState> value) {
        return budgets.state(budget).map(value::applyAsDouble).orElse(Double.NaN);
    }
}

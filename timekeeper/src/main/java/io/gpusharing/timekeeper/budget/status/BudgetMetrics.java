package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Budgets as metrics, in GPU-seconds and GPUs. How many there are is among the metrics of this
 * service, which any pod of the cluster can read; what is labelled by a budget and its namespaces
 * has a registry of its own, and so is never on that page.
 */
@Component
class BudgetMetrics {

    private static final double MICROS = 1e6;

    private final Budgets budgets;
    private final Clock clock;
    private final PrometheusMeterRegistry named =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final NamespaceTotals totals = new NamespaceTotals();
    private final Map<String, Gauges> shown = new HashMap<>();

    BudgetMetrics(MeterRegistry registry, Budgets budgets, Clock clock) {
        this.budgets = budgets;
        this.clock = clock;
        Gauge.builder("gpusharing.budgets", budgets, it -> it.states().size())
                .description("Budgets that there are")
                .register(registry);
        Gauge.builder("gpusharing.budgets.not.understood", budgets, BudgetMetrics::invalidSpec)
                .description(
                        "Budgets whose spec makes no sense and that are counted without a limit")
                .register(registry);
        Gauge.builder("gpusharing.budgets.over", this, BudgetMetrics::over)
                .description("Budgets that are used up")
                .register(registry);
        budgets.listen(this::show);
    }

    /** For what else has names of namespaces. */
    MeterRegistry registry() {
        return named;
    }

    /** What names budgets and namespaces, in the text format of Prometheus. */
    String page() {
        return named.scrape();
    }

    private long over() {
        Instant now = clock.instant();
        return budgets.states().values().stream()
                .filter(state -> state.standing(now) instanceof OverBudget)
                .count();
    }

    /** The gauges of a budget, and of which of its namespaces. */
    private record Gauges(List<String> namespaces, List<Meter> meters) {}

    private static long invalidSpec(Budgets budgets) {
        return budgets.states().values().stream()
                .filter(state -> state.invalidSpec() != null)
                .count();
    }

    private synchronized void show(Set<String> changed) {
        for (String budget : changed) {
            BudgetState state = budgets.states().get(budget);
            List<String> namespaces = state == null ? null : namespaces(state);
            if (state == null) {
                totals.forget(budget);
            } else {
                totals.count(state, clock.instant());
            }
            Gauges before = shown.get(budget);
            if (before != null && !before.namespaces().equals(namespaces)) {
                shown.remove(budget);
                before.meters().forEach(named::remove);
            }
            if (namespaces != null && !shown.containsKey(budget)) {
                shown.put(budget, gauges(budget, namespaces));
            }
        }
    }

    /** Each asks for the present state, so that it is right at the moment it is read. */
    private Gauges gauges(String budget, List<String> namespaces) {
        var meters = new ArrayList<Meter>();
        Tags tags = Tags.of("budget", budget);
        meters.add(
                gauge(
                        "budget.used",
                        "gpu_seconds",
                        "Used in the present period",
                        tags,
                        it -> gpuSeconds(it.used(clock.instant()))));
        meters.add(
                gauge(
                        "budget.granted",
                        "gpu_seconds",
                        "Granted for the present period",
                        tags,
                        it ->
                                it.granted(clock.instant())
                                        .map(BudgetMetrics::gpuSeconds)
                                        .orElse(Double.POSITIVE_INFINITY)));
        meters.add(gauge("budget.rate", "gpus", "GPUs held now", tags, it -> it.rate() / MICROS));
        meters.add(
                gauge(
                        "budget.over",
                        null,
                        "1 while the budget is used up",
                        tags,
                        it -> it.standing(clock.instant()) instanceof OverBudget ? 1 : 0));
        meters.add(
                gauge(
                        "budget.exhaustion.timestamp",
                        "seconds",
                        "When its time ends or ended at the present rate; infinite if not in this"
                                + " period",
                        tags,
                        it -> seconds(it.exhaustedAt())));
        for (String namespace : namespaces) {
            meters.addAll(ofNamespace(budget, namespace));
        }
        return new Gauges(namespaces, List.copyOf(meters));
    }

    private List<Meter> ofNamespace(String budget, String namespace) {
        Tags tags = Tags.of("budget", budget).and("namespace", namespace);
        return List.of(
                gauge(
                        "namespace.used",
                        "gpu_seconds",
                        "Used by a namespace in this period",
                        tags,
                        it -> of(it, namespace, use -> gpuSeconds(use.used()))),
                gauge(
                        "namespace.rate",
                        "gpus",
                        "GPUs that a namespace holds now",
                        tags,
                        it -> of(it, namespace, use -> use.rate() / MICROS)),
                FunctionCounter.builder(
                                "gpusharing.namespace.gpu", this, it -> it.total(budget, namespace))
                        .baseUnit("seconds")
                        .description(
                                "Used by a namespace since this replica began to count, over all"
                                        + " periods")
                        .tags(tags)
                        .register(named));
    }

    private Gauge gauge(
            String name,
            @Nullable String unit,
            String description,
            Tags tags,
            ToDoubleFunction<BudgetState> value) {
        String budget = tags.stream().findFirst().orElseThrow().getValue();
        return Gauge.builder("gpusharing." + name, budgets, it -> read(budget, value))
                .baseUnit(unit)
                .description(description)
                .tags(tags)
                .register(named);
    }

    private double total(String budget, String namespace) {
        budgets.state(budget).ifPresent(state -> totals.count(state, clock.instant()));
        return totals.of(budget, namespace) / MICROS;
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

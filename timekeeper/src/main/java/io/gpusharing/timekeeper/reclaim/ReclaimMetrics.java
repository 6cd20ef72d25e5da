package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import io.gpusharing.timekeeper.reclaim.plan.Decision;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Leave;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Reason;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Component;

/** What reclaim does, what it costs and whether it helps; every label has a fixed set of values. */
@Component
final class ReclaimMetrics {

    private static final double MICROS = 1e6;

    private final Map<Result, Counter> asked = new EnumMap<>(Result.class);
    private final Map<Reason, AtomicInteger> waiting = new EnumMap<>(Reason.class);
    private final AtomicInteger leftAlone = new AtomicInteger();
    private final Counter cost;
    private final Counter helped;
    private final Counter vain;

    ReclaimMetrics(MeterRegistry registry) {
        for (Result result : Result.values()) {
            asked.put(
                    result,
                    Counter.builder("gpusharing.reclaim.evictions")
                            .description("Pods that were to be evicted, by what became of that")
                            .tag("result", word(result))
                            .register(registry));
        }
        for (Reason reason : Reason.values()) {
            AtomicInteger pods = new AtomicInteger();
            waiting.put(reason, pods);
            Gauge.builder("gpusharing.reclaim.waiting", pods, AtomicInteger::get)
                    .description(
                            "Unschedulable pods for which nobody is evicted, by why not; none are"
                                    + " counted while no budget that may be reclaimed from is over")
                    .baseUnit("pods")
                    .tag("reason", word(reason))
                    .register(registry);
        }
        Gauge.builder("gpusharing.reclaim.ahead", leftAlone, AtomicInteger::get)
                .description(
                        "Budgets of whose pods none is evicted, because a clock was ahead when they"
                                + " were computed")
                .baseUnit("budgets")
                .register(registry);
        cost =
                Counter.builder("gpusharing.reclaim.cost")
                        .description("What evicted pods had used in the runs that were ended")
                        .baseUnit("gpu_seconds")
                        .register(registry);
        helped = fitCheck(registry, true);
        vain = fitCheck(registry, false);
    }

    private static Counter fitCheck(MeterRegistry registry, boolean helped) {
        return Counter.builder("gpusharing.reclaim.rooms")
                .description("Waiting pods for which room was made, by whether they took it")
                .tag("helped", Boolean.toString(helped))
                .register(registry);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Only the last look counts. */
    void decided(List<Decision> decisions) {
        Map<Reason, Integer> pods = new EnumMap<>(Reason.class);
        for (Decision decision : decisions) {
            switch (decision) {
                case Evict plan -> {}
                case Leave leave -> pods.merge(leave.reason(), 1, Integer::sum);
            }
        }
        waiting.forEach((reason, gauge) -> gauge.set(pods.getOrDefault(reason, 0)));
    }

    /** So many budgets are over by a clock that was ahead. */
    void leftAlone(int budgets) {
        leftAlone.set(budgets);
    }

    void carriedOut(Victim victim, Result result) {
        Objects.requireNonNull(asked.get(result)).increment();
        if (result.ended()) {
            cost.increment(victim.cost() / MICROS);
        }
    }

    void settled(Outcome outcome) {
        (outcome.helped() ? helped : vain).increment();
    }
}

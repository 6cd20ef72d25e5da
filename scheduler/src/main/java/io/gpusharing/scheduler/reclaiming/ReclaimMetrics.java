package io.gpusharing.scheduler.reclaiming;

import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Component;

/** For whom reclaim makes no room, and why not; every label has a fixed set of values. */
@Component
final class ReclaimMetrics {

    private final Map<Reason, AtomicInteger> waiting = new EnumMap<>(Reason.class);
    private final AtomicInteger leftAlone = new AtomicInteger();
    private final Timer rounds;

    ReclaimMetrics(MeterRegistry registry) {
        this.rounds =
                Timer.builder("gpusharing.reclaim.round")
                        .description(
                                "How long it took to decide for all pods that wait, and to write"
                                        + " the plans")
                        .register(registry);
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
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Times a round in which somebody waits. */
    void time(Runnable round) {
        rounds.record(round);
    }

    /** Only the last look counts. */
    void left(List<Leave> waiters) {
        Map<Reason, Integer> pods = new EnumMap<>(Reason.class);
        waiters.forEach(leave -> pods.merge(leave.reason(), 1, Integer::sum));
        waiting.forEach((reason, gauge) -> gauge.set(pods.getOrDefault(reason, 0)));
    }

    /** So many budgets are over by a clock that was ahead. */
    void leftAlone(int budgets) {
        leftAlone.set(budgets);
    }
}

package io.gpusharing.scheduler.evicting;

import static java.util.Objects.requireNonNull;

import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** What evictions come to and whether they help; every label has a fixed set of values. */
final class EvictionMetrics {

    private static final double MICROS = 1e6;

    private final Map<Cause, Map<Result, Counter>> results = new EnumMap<>(Cause.class);
    private final Counter cost;
    private final Counter helped;
    private final Counter vain;

    EvictionMetrics(MeterRegistry registry) {
        for (Cause cause : Cause.values()) {
            var ofCause = new EnumMap<Result, Counter>(Result.class);
            for (Result result : Result.values()) {
                ofCause.put(
                        result,
                        Counter.builder("gpusharing.evictions")
                                .description(
                                        "Pods that were to be evicted, by what for and by what became of that")
                                .tag("cause", word(cause))
                                .tag("result", word(result))
                                .register(registry));
            }
            results.put(cause, ofCause);
        }
        cost =
                Counter.builder("gpusharing.evictions.cost")
                        .description("What reclaimed pods had used in the runs that were ended")
                        .baseUnit("gpu_seconds")
                        .register(registry);
        helped = rooms(registry, true);
        vain = rooms(registry, false);
    }

    private static Counter rooms(MeterRegistry registry, boolean helped) {
        return Counter.builder("gpusharing.evictions.rooms")
                .description("Waiting pods for which room was made, by whether they took it")
                .tag("helped", Boolean.toString(helped))
                .register(registry);
    }

    /** In lower case, with a line between words: {@code refused_start}. */
    private static String word(Enum<?> value) {
        return value.name().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
    }

    /** This became of a victim. */
    void answered(Cause cause, Victim victim, Result result) {
        requireNonNull(requireNonNull(results.get(cause)).get(result)).increment();
        if (cause == Cause.Reclaim && result.ended() && victim.cost() != null) {
            cost.increment(victim.cost() / MICROS);
        }
    }

    /** This became of a waiter. */
    void settled(boolean hasHelped) {
        (hasHelped ? helped : vain).increment();
    }
}

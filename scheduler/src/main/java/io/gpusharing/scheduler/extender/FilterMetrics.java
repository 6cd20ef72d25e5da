package io.gpusharing.scheduler.extender;

import io.gpusharing.placement.Reason;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/** What kube-scheduler was answered. A pod that waits is counted each time that it is tried. */
@Component
final class FilterMetrics {

    private final Map<Reason, Counter> refused = new EnumMap<>(Reason.class);
    private final Counter placed;

    FilterMetrics(MeterRegistry registry) {
        placed = counter(registry, "placed");
        Arrays.stream(Reason.values())
                .forEach(reason ->
                        refused.put(
                                reason, counter(registry, reason.name().toLowerCase(Locale.ROOT))));
    }

    private static Counter counter(MeterRegistry registry, String result) {
        return Counter.builder("gpusharing.scheduler.answers")
                .description("Answers where a pod may go, by the reason of most hope if nowhere")
                .tag("result", result)
                .register(registry);
    }

    void placed() {
        placed.increment();
    }

    void refused(Nowhere nowhere) {
        Stream.of(nowhere.failed(), nowhere.unresolvable())
                .flatMap(reasons -> reasons.values().stream())
                .min(Comparator.naturalOrder())
                .map(refused::get)
                .ifPresent(Counter::increment);
    }
}

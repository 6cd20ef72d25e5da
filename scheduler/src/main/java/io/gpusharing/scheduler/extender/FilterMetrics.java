package io.gpusharing.scheduler.extender;

import io.gpusharing.placement.Reason;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/** What kube-scheduler was answered. A pod that waits is counted each time that it is tried. */
@Component
final class FilterMetrics {

    /** What might be mended soonest comes first. */
    private static final List<Reason> FIRST_OF =
            List.of(
                    Reason.NO_ROOM,
                    Reason.KEPT,
                    Reason.BEING_BOUND,
                    Reason.UNHEALTHY,
                    Reason.TOO_LARGE,
                    Reason.NOT_SHARED);

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
        FIRST_OF.stream()
                .filter(reason ->
                        Stream.of(nowhere.failed(), nowhere.unresolvable())
                                .anyMatch(it -> it.containsValue(reason)))
                .findFirst()
                .map(refused::get)
                .ifPresent(Counter::increment);
    }
}

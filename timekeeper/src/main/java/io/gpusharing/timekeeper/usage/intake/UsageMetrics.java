package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Duplicate;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.intake.Outcome.Unavailable;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import org.springframework.stereotype.Component;

/** Counts reports by what became of them; labels are bounded. */
@Component
class UsageMetrics {

    private final MeterRegistry registry;
    private final Counter accepted;
    private final Counter duplicate;
    private final Counter unavailable;

    UsageMetrics(MeterRegistry registry) {
        this.registry = registry;
        accepted = counter("accepted", "");
        duplicate = counter("duplicate", "");
        unavailable = counter("unavailable", "");
    }

    void count(Outcome outcome) {
        switch (outcome) {
            case Accepted taken -> accepted.increment();
            case Duplicate again -> duplicate.increment();
            case Unavailable later -> unavailable.increment();
            case Refused refused ->
                    counter("refused", refused.refusal().name().toLowerCase(Locale.ROOT))
                            .increment();
        }
    }

    private Counter counter(String result, String reason) {
        return Counter.builder("gpusharing.usage.reports")
                .description("Usage reports by what became of them")
                .tag("result", result)
                .tag("reason", reason)
                .register(registry);
    }
}

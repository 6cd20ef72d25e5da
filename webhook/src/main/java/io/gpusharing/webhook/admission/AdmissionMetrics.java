package io.gpusharing.webhook.admission;

import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.review.Review;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Counts decisions and measures how long they take. All labels come from small closed sets. */
public final class AdmissionMetrics implements Admission.Listener {

    private record Labels(WebhookType type, String verdict) {}

    private final MeterRegistry registry;
    private final Timer latency;
    private final Counter shed;
    private final Counter malformed;
    private final Map<Labels, Counter> reviews = new ConcurrentHashMap<>();
    private final Map<String, Counter> refusals = new ConcurrentHashMap<>();

    public AdmissionMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.latency =
                Timer.builder("gpusharing.admission.latency")
                        .description("Time from the review's first byte to the answer's last")
                        .serviceLevelObjectives(
                                Duration.ofNanos(250_000),
                                Duration.ofMillis(1),
                                Duration.ofMillis(3),
                                Duration.ofMillis(10),
                                Duration.ofMillis(50),
                                Duration.ofMillis(250),
                                Duration.ofSeconds(1))
                        .register(registry);
        this.shed =
                Counter.builder("gpusharing.admission.shed")
                        .description("Reviews answered 503 because their time was up")
                        .register(registry);
        this.malformed =
                Counter.builder("gpusharing.admission.malformed")
                        .description("Requests answered 4xx")
                        .register(registry);
    }

    @Override
    public void decided(WebhookType type, Review review, Decision decision) {
        reviews.computeIfAbsent(new Labels(type, decision.word()), this::reviews).increment();
        if (decision instanceof Decision.Refused refused) {
            refused.findings()
                    .forEach(finding ->
                            refusals.computeIfAbsent(finding.rule(), this::refusals).increment());
        }
    }

    public void took(long nanos) {
        latency.record(nanos, TimeUnit.NANOSECONDS);
    }

    public void shed() {
        shed.increment();
    }

    public void malformed() {
        malformed.increment();
    }

    private Counter reviews(Labels labels) {
        return Counter.builder("gpusharing.admission.reviews")
                .description("Reviews answered")
                .tag("type", labels.type().name())
                .tag("verdict", labels.verdict())
                .register(registry);
    }

    private Counter refusals(String rule) {
        return Counter.builder("gpusharing.admission.refusals")
                .description("Broken rules in refused reviews")
                .tag("rule", rule)
                .register(registry);
    }
}

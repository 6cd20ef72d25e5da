package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.timekeeper.ledger.store.UnpaidPods;
import io.gpusharing.timekeeper.ledger.store.UnpaidPods.Unpaid;
import io.gpusharing.web.LeaderTask;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Tells who uses GPUs without a budget. Metrics of each replica say how many GPUs that are, and
 * name the namespaces where metrics may have names. Whoever leads also writes an Event in each such
 * namespace, on its oldest pod, once a day: there it is seen by who may see the pod, and by nobody
 * else.
 */
@Component
class UnpaidWatch extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(UnpaidWatch.class);
    private static final Duration EVERY = Duration.ofSeconds(15);

    /** So many Events are written in one round. */
    private static final int MOST_EVENTS = 20;

    private static final double MICROS = 1e6;

    private final UnpaidPods pods;
    private final MultiGauge byNamespace;
    private final Counter used;
    private final Events events;
    private final Leadership leadership;

    /** When an Event was written in a namespace last. */
    private final Map<String, LocalDate> told = new HashMap<>();

    private volatile List<Unpaid> present = List.of();
    private @Nullable Instant counted;

    UnpaidWatch(
            UnpaidPods pods,
            MeterRegistry registry,
            BudgetMetrics named,
            KubernetesClient client,
            Leadership leadership,
            Clock clock) {
        super("unpaid-watch", clock);
        this.pods = pods;
        this.events = new Events(client, Names.TIMEKEEPER);
        this.leadership = leadership;
        Gauge.builder("gpusharing.unpaid.namespaces", this, it -> it.present.size())
                .description("Namespaces whose pods hold GPUs that no budget pays for")
                .register(registry);
        Gauge.builder("gpusharing.unpaid", this, UnpaidWatch::gpus)
                .baseUnit("gpus")
                .description("GPUs that no budget pays for")
                .register(registry);
        this.used =
                Counter.builder("gpusharing.unpaid.gpu")
                        .baseUnit("seconds")
                        .description(
                                "Used without a budget since this replica began to count, as seen"
                                        + " every 15 s")
                        .register(registry);
        this.byNamespace =
                MultiGauge.builder("gpusharing.namespace.unpaid")
                        .baseUnit("gpus")
                        .description("GPUs that a namespace holds and no budget pays for")
                        .register(named.registry());
    }

    @Override
    protected Instant work(Instant now) {
        count(now);
        present = pods.present();
        byNamespace.register(
                present.stream()
                        .<Row<?>>map(it ->
                                Row.of(Tags.of("namespace", it.namespace()), it.held() / MICROS))
                        .toList(),
                true);
        if (leadership.leads()) {
            tell(now);
        }
        return now.plus(EVERY);
    }

    private double gpus() {
        return present.stream().mapToLong(Unpaid::held).sum() / MICROS;
    }

    /** What was used since the last look, by what that showed. */
    private void count(Instant now) {
        if (counted != null && now.isAfter(counted)) {
            used.increment(gpus() * Duration.between(counted, now).toMillis() / 1000);
        }
        counted = now;
    }

    private void tell(Instant now) {
        LocalDate today = LocalDate.ofInstant(now, ZoneOffset.UTC);
        told.values().removeIf(day -> !day.equals(today));
        present.stream()
                .filter(it -> !told.containsKey(it.namespace()))
                .limit(MOST_EVENTS)
                .forEach(it -> tell(it, today, now));
    }

    /** One that the API server refuses is written tomorrow, so that others have their turn. */
    private void tell(Unpaid unpaid, LocalDate today, Instant now) {
        try {
            events.write(
                    Events.pod(unpaid.namespace(), unpaid.name(), unpaid.pod().toString()),
                    "no-budget-" + today,
                    new Text(
                            Events.Type.Normal,
                            "NoBudget",
                            "Charging",
                            "No budget names the namespace %s: what its pods use of GPUs is counted, and nobody pays for it"
                                    .formatted(unpaid.namespace())),
                    now);
            told.put(unpaid.namespace(), today);
        } catch (KubernetesClientException e) {
            if (OutageLog.isOutageForAll(e)) {
                throw e;
            }
            if (e.getCode() < HttpURLConnection.HTTP_INTERNAL_ERROR) {
                told.put(unpaid.namespace(), today);
            }
            log.atWarn()
                    .addKeyValue("namespace", unpaid.namespace())
                    .addKeyValue("problem", e.getMessage())
                    .log("cannot write an Event about a namespace without a budget");
        }
    }
}

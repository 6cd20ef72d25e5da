package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.status.Uncounted.Offer;
import io.gpusharing.timekeeper.cluster.OfferedGpus;
import io.gpusharing.timekeeper.cluster.RequestProperties;
import io.gpusharing.web.LeaderTask;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Reports which GPUs the nodes offer that nobody is charged for: whoever asks for those passes
 * unseen by the webhook and by us, and a site that forgot a setting would learn it from its bills.
 *
 * <p>Nodes are looked at twice a minute instead of with each of their changes: thousands of them
 * come and go with an autoscaler, and nothing is charged by it.
 */
@Component
class UncountedWatch extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(UncountedWatch.class);
    private static final Duration EVERY = Duration.ofSeconds(30);
    private static final Duration UNTIL_LISTED = Duration.ofSeconds(1);

    /** Resources are named by nodes; no site has more, and no mistake shall make more series. */
    private static final int MAX_RESOURCES = 50;

    private final OfferedGpus nodes;
    private final RequestGrammars grammars;
    private final RequestProperties properties;
    private final MultiGauge gauge;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile @Nullable Uncounted present;

    UncountedWatch(
            OfferedGpus nodes,
            RequestGrammars grammars,
            RequestProperties properties,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        super("uncounted-watch", leadership, clock);
        this.nodes = nodes;
        this.grammars = grammars;
        this.properties = properties;
        this.gauge =
                MultiGauge.builder("gpusharing.gpus.uncounted")
                        .description(
                                "Units of a resource that nodes offer and nobody is charged for;"
                                        + " anything but 0 is an alert")
                        .register(registry);
    }

    /** Calls back whenever {@link #present} changes. Listeners must be quick. */
    void listen(Runnable listener) {
        listeners.add(listener);
    }

    /** What nobody is charged for; empty until the nodes were looked at in this term. */
    Optional<Uncounted> present() {
        return Optional.ofNullable(present);
    }

    @Override
    protected void takeOver() {
        present = null;
    }

    @Override
    protected void handOver() {
        present = null;
        gauge.register(List.of(), true);
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        List<Map<String, Quantity>> offered = nodes.offered().orElse(null);
        if (offered == null) {
            return now.plus(UNTIL_LISTED);
        }
        Uncounted before = present;
        Uncounted after = Uncounted.of(offered, this::counts);
        if (!after.equals(before)) {
            present = after;
            log(before == null ? Map.of() : before.offers(), after.offers());
            show(after.offers());
            listeners.forEach(Runnable::run);
        }
        return now.plus(EVERY);
    }

    /** The webhook sees only what is listed, whatever a grammar could read. */
    private boolean counts(String resource) {
        return grammars.reads(resource) && properties.lists(resource);
    }

    private void log(Map<String, Offer> before, Map<String, Offer> after) {
        after.forEach((resource, offer) -> {
            if (!before.containsKey(resource)) {
                log.atWarn()
                        .addKeyValue("resource", resource)
                        .addKeyValue("nodes", offer.nodes())
                        .addKeyValue("units", offer.units())
                        .addKeyValue("advice", advice(resource))
                        .log("nodes offer GPUs that nobody is charged for");
            }
        });
        before.keySet().stream()
                .filter(resource -> !after.containsKey(resource))
                .forEach(resource ->
                        log.atInfo()
                                .addKeyValue("resource", resource)
                                .log("no node offers these uncharged GPUs any more"));
    }

    /** In the words of the chart's values. */
    private String advice(String resource) {
        if (grammars.reads(resource)) {
            return "add it to gpuResources";
        }
        List<String> readers = grammars.couldBeReadBy(resource);
        String custom = "give the worth of one unit under customResources";
        return readers.isEmpty()
                ? custom
                : "add it to gpuResources and %s to grammars, or %s"
                        .formatted(String.join(" or ", readers), custom);
    }

    private void show(Map<String, Offer> offers) {
        var units = new TreeMap<String, Long>();
        offers.forEach((resource, offer) ->
                units.merge(
                        units.size() < MAX_RESOURCES ? resource : "others",
                        offer.units(),
                        Long::sum));
        gauge.register(
                units.entrySet().stream()
                        .<Row<?>>map(it -> Row.of(Tags.of("resource", it.getKey()), it.getValue()))
                        .toList(),
                true);
    }
}

package io.gpusharing.scheduler.cluster;

import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Looks whether the API server still speaks to each of our watches. Where one has stalled, pods are
 * placed by what was known before: that a pod has gone is not seen, nor that a node has come. So
 * the part {@code watching} fails. Readiness does not depend on it: while the API server is away
 * all replicas hear nothing, and one that knows what was is better than none.
 */
@Component
final class WatchSilence {

    /** The API server speaks every minute, and a watch that broke is begun anew within seconds. */
    private static final Duration ALARM = Duration.ofMinutes(5);

    private final List<ObjectInformer<?>> informers;
    private final Clock clock;
    private final Rounds watching;

    /**
     * @param others watches beside those of the cluster
     */
    WatchSilence(
            ClusterWatch cluster,
            List<ObjectInformer<?>> others,
            Parts parts,
            MeterRegistry metrics,
            Clock clock) {
        this.informers = Stream.concat(cluster.informers().stream(), others.stream()).toList();
        this.clock = clock;
        this.watching = parts.part("watching");
        for (ObjectInformer<?> informer : informers) {
            Gauge.builder("gpusharing.watch.silent", informer, it -> silence(it).toSeconds())
                    .tag("kind", informer.plural())
                    .baseUnit("seconds")
                    .description(
                            "Since when a watch has heard nothing of the API server, which speaks"
                                    + " every minute; more than a few of them is an alert")
                    .register(metrics);
        }
    }

    /** Often, lest a word is taken for a later one. */
    @Scheduled(fixedDelay = 10_000)
    void look() {
        watching.run(this::lookAtAll);
    }

    private void lookAtAll() {
        List<String> silent =
                informers.stream()
                        .filter(it -> silence(it).compareTo(ALARM) > 0)
                        .map(ObjectInformer::plural)
                        .toList();
        if (!silent.isEmpty()) {
            throw new IllegalStateException(
                    "The API server has said nothing of %s for five minutes".formatted(silent));
        }
    }

    private Duration silence(ObjectInformer<?> informer) {
        return informer.silence(clock.instant());
    }
}

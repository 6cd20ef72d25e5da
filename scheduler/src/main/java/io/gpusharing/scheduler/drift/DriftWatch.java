package io.gpusharing.scheduler.drift;

import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Drift;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Whether annotations, grants and pods say the same of who has which GPU. Nothing is repaired here:
 * what the device plugin granted is what a container has, so it is counted, and told.
 */
@Component
final class DriftWatch {

    private static final Logger log = LoggerFactory.getLogger(DriftWatch.class);

    /** At once. One odd GpuNode may make thousands, of which others do not wait for ever. */
    private static final int MOST_TOLD = 20;

    private final ClusterGpus gpus;
    private final ClusterKnowledge cluster;
    private final DriftNotice notice;
    private final boolean watched;
    private final Rounds comparing;
    private Set<Drift> found = Set.of();
    private final Set<Drift> told = new HashSet<>();

    /** What two looks found: what is over in ten seconds is no drift. */
    private volatile Set<Drift> lasting = Set.of();

    DriftWatch(
            MeterRegistry registry,
            ClusterGpus gpus,
            ClusterKnowledge cluster,
            DriftNotice notice,
            DriftProperties properties,
            Parts parts) {
        this.gpus = gpus;
        this.cluster = cluster;
        this.notice = notice;
        this.watched = properties.watched();
        this.comparing = parts.part("drift");
        for (Drift.Kind kind : Drift.Kind.values()) {
            Gauge.builder(
                            "gpusharing.scheduler.drift",
                            this,
                            it -> it.lasting.stream().filter(drift -> drift.kind() == kind).count())
                    .description(
                            "GPUs and pods of which annotations, grants and pods do not say the same")
                    .tag("kind", kind.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
    }

    /** Thousands of nodes: not at each scrape, of which there may be several. */
    @Scheduled(fixedDelay = 10_000)
    void look() {
        comparing.run(this::compare);
    }

    private void compare() {
        if (!watched || !cluster.isKnown()) {
            return;
        }
        Set<Drift> before = found;
        found = Set.copyOf(gpus.drift());
        lasting = Set.copyOf(found.stream().filter(before::contains).toList());
        told.retainAll(lasting);
        List<Drift> fresh = lasting.stream().filter(drift -> !told.contains(drift)).toList();
        for (Drift drift : fresh.subList(0, Math.min(fresh.size(), MOST_TOLD))) {
            log.atWarn()
                    .addKeyValue("kind", drift.kind())
                    .addKeyValue("node", drift.node())
                    .addKeyValue("of", drift.subject())
                    .log("annotations, grants and pods do not say the same of a GPU or a pod");
            told.add(drift);
            notice.tell(drift);
        }
        if (fresh.size() > MOST_TOLD) {
            log.atWarn()
                    .addKeyValue("count", fresh.size() - MOST_TOLD)
                    .log("and so of others, told later; gpusharing_scheduler_drift counts all");
        }
    }
}

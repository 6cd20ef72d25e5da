package io.gpusharing.scheduler.waiting;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.picture.HalfPlaced;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Tells of gangs of which some pods hold GPUs while others find no room: all of them are charged
 * for nothing until the rest runs, and two such gangs may wait for each other for ever. Nothing is
 * placed otherwise for it, and nobody is evicted.
 */
@Component
final class HalfPlacedGangs {

    private static final Logger log = LoggerFactory.getLogger(HalfPlacedGangs.class);

    /** The pods of a gang are seldom placed at once, and a node may be on its way. */
    static final Duration PATIENCE = Duration.ofMinutes(5);

    /** At once; the others' turn comes ten seconds later. */
    private static final int MOST_TOLD = 20;

    private final Events events;
    private final ClusterKnowledge cluster;
    private final KnownCluster known;
    private final Rounds looking;
    private final Clock clock;
    private final Set<PodRef> told = new HashSet<>();
    private volatile int halfPlaced;

    HalfPlacedGangs(
            KubernetesClient client,
            ClusterKnowledge cluster,
            KnownCluster known,
            MeterRegistry registry,
            Parts parts,
            Clock clock) {
        this.events = new Events(PromptClient.of(client), Names.SCHEDULER);
        this.cluster = cluster;
        this.known = known;
        this.looking = parts.part("gangs");
        this.clock = clock;
        Gauge.builder("gpusharing.scheduler.gangs.half.placed", this, it -> it.halfPlaced)
                .description(
                        "Gangs of which some pods hold GPUs and are charged while others have found no room for five minutes")
                .register(registry);
    }

    @Scheduled(fixedDelay = 10_000)
    void look() {
        looking.run(this::tell);
    }

    private void tell() {
        if (!cluster.isKnown()) {
            return;
        }
        Instant now = clock.instant();
        List<HalfPlaced> gangs = known.halfPlaced(now.minus(PATIENCE));
        halfPlaced = gangs.size();
        told.retainAll(gangs.stream().map(it -> it.longest().pod()).toList());
        gangs.stream()
                .filter(gang -> !told.contains(gang.longest().pod()))
                .limit(MOST_TOLD)
                .forEach(gang -> tell(gang, now));
    }

    private void tell(HalfPlaced gang, Instant now) {
        PodRef pod = gang.longest().pod();
        told.add(pod);
        try {
            // One that was made anew has the same name.
            events.write(
                    Events.pod(pod.namespace(), pod.name(), pod.uid()),
                    "half-placed-%08x".formatted(pod.uid().hashCode()),
                    new Text(
                            Events.Type.Warning,
                            "GangHalfPlaced",
                            "Placing",
                            "%d of the %d pods of its gang hold GPUs and are charged, the others wait: this one since %s. If they are of no use without each other, delete the workload or make room for all of it"
                                    .formatted(
                                            gang.placed(),
                                            gang.placed() + gang.waiting(),
                                            gang.longest().since())),
                    now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("pod", pod)
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write an Event about a gang of which a part waits");
        }
    }
}

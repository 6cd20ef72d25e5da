package io.gpusharing.scheduler.waiting;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.picture.HalfPlaced;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * Tells of gangs of which some pods hold GPUs while others find no room: all of them are charged
 * for nothing until the rest runs, and two such gangs may wait for each other for ever. Nothing is
 * placed otherwise for it, and nobody is evicted.
 */
@Component
final class HalfPlacedGangs extends ToldOnce {

    /** The pods of a gang are seldom placed at once, and a node may be on its way. */
    static final Duration PATIENCE = Duration.ofMinutes(5);

    private final KnownCluster known;
    private volatile int halfPlaced;

    HalfPlacedGangs(
            KubernetesClient client,
            ClusterKnowledge cluster,
            KnownCluster known,
            MeterRegistry registry,
            Parts parts,
            Clock clock) {
        super(client, "half-placed", cluster, parts.part("gangs"), clock);
        this.known = known;
        Gauge.builder("gpusharing.scheduler.gangs.half.placed", this, it -> it.halfPlaced)
                .description(
                        "Gangs of which some pods hold GPUs and are charged while others have found no room for five minutes")
                .register(registry);
    }

    @Override
    Map<PodRef, Text> texts(Instant now) {
        List<HalfPlaced> gangs = known.halfPlaced(now.minus(PATIENCE));
        halfPlaced = gangs.size();
        Map<PodRef, Text> texts = new LinkedHashMap<>();
        gangs.forEach(gang -> texts.put(gang.longest().pod(), text(gang)));
        return texts;
    }

    private static Text text(HalfPlaced gang) {
        return new Text(
                Events.Type.Warning,
                "GangHalfPlaced",
                "Placing",
                "%d of the %d pods of its gang hold GPUs and are charged, the others wait: this one since %s. If they are of no use without each other, delete the workload or make room for all of it"
                        .formatted(
                                gang.placed(),
                                gang.placed() + gang.waiting(),
                                gang.longest().since()));
    }
}

package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.timekeeper.reclaim.RecentPicture.Seen;
import io.gpusharing.timekeeper.reclaim.explain.Explainer;
import io.gpusharing.timekeeper.reclaim.explain.Explanation;
import io.gpusharing.timekeeper.reclaim.explain.Explanation.State;
import io.gpusharing.timekeeper.reclaim.explain.Picture;
import io.gpusharing.timekeeper.reclaim.explain.Subject;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.springframework.stereotype.Component;

/** Says of pods, and of new ones, where they are or why they wait. */
@Component
public class PlacementExplanations {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final KubernetesClient client;
    private final ClusterSnapshotReader snapshots;
    private final ReclaimEvictions evictions;
    private final ReclaimProperties properties;
    private final SubjectReader subjects;
    private final Clock clock;
    private final RecentPicture pictures;

    PlacementExplanations(
            KubernetesClient client,
            ClusterSnapshotReader snapshots,
            ReclaimEvictions evictions,
            ReclaimProperties properties,
            RequestGrammars grammars,
            ProviderAsk asks,
            Clock clock) {
        this.client = client;
        this.snapshots = snapshots;
        this.evictions = evictions;
        this.properties = properties;
        this.subjects =
                new SubjectReader(
                        grammars, new CapacityReader(grammars, asks, properties.sharing()));
        this.clock = clock;
        this.pictures = new RecentPicture(this::read, PATIENCE, clock);
    }

    /**
     * Explains a pod.
     *
     * @param detailed how many nodes are shown with their GPUs at most
     * @param shown namespaces whose pods may be named
     * @return empty if there is no such pod
     * @throws KubernetesClientException if the API server cannot be asked
     * @throws NotSeenException if it takes too long
     */
    public Optional<Explanation> ofPod(
            String namespace, String name, int detailed, Predicate<String> shown) {
        return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get())
                .map(pod -> {
                    try {
                        return explain(pod, false, detailed, shown);
                    } catch (NotReadException e) {
                        return unreadable(namespace, name, String.valueOf(e.getMessage()));
                    }
                });
    }

    private Explanation unreadable(String namespace, String name, String why) {
        return new Explanation(
                clock.instant(),
                namespace,
                name,
                State.Unreadable,
                null,
                "It cannot be read: %s.".formatted(why),
                List.of(),
                null,
                null,
                null,
                null,
                null,
                List.of(),
                List.of());
    }

    /**
     * The same of a pod that is not there.
     *
     * @param pod with a uid and the instant of its creation, as the API server would give it one
     * @throws NotReadException if something in it cannot be read
     */
    public Explanation ofNewPod(Pod pod, int detailed, Predicate<String> shown) {
        return explain(pod, true, detailed, shown);
    }

    private Explanation explain(Pod pod, boolean isNew, int detailed, Predicate<String> shown) {
        Instant now = clock.instant();
        Seen seen = pictures.seen();
        var unread = new ArrayList<Unreadable>();
        // Those of this question alone: whoever acts on the pod counts it.
        Subject subject =
                new UnreadableObjects(unread::add)
                        .read(pod, it -> subjects.read(it, isNew, seen.groups(), now))
                        .orElseThrow(() -> new NotReadException(unread.getFirst().why()));
        return new Explainer(
                        seen.picture(), properties.rules(seen.paused()), seen.nodePods(), shown)
                .explain(subject, detailed);
    }

    private Seen read() {
        Instant now = clock.instant();
        Instant back = now.minus(properties.lookBack());
        ClusterSnapshotReader.Reading reading = snapshots.read(evictions.since(back));
        return new Seen(
                new Picture(reading.snapshot()),
                reading.groups(),
                reading.nodePods(),
                reading.paused());
    }
}

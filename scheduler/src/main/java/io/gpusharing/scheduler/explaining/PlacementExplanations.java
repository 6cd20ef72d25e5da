package io.gpusharing.scheduler.explaining;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.explaining.RecentPicture.Seen;
import io.gpusharing.scheduler.picture.reading.CapacityReader;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.reclaiming.ReclaimEvictions;
import io.gpusharing.scheduler.reclaiming.ReclaimProperties;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.State;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/** Explains pods by what was known of the cluster less than ten seconds before. */
@Component
public class PlacementExplanations implements PodExplanations {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final PodLookup pods;
    private final ClusterSnapshotReader snapshots;
    private final Budgets budgets;
    private final ReclaimEvictions evictions;
    private final ReclaimProperties properties;
    private final RequestGrammars grammars;
    private final SubjectReader subjects;
    private final Clock clock;
    private final RecentPicture pictures;

    PlacementExplanations(
            KubernetesClient client,
            ClusterSnapshotReader snapshots,
            Budgets budgets,
            ReclaimEvictions evictions,
            ReclaimProperties properties,
            RequestGrammars grammars,
            ProviderAsk asks,
            ReadingSettings settings,
            @Qualifier("evicting") Clock clock) {
        this.pods = new PodLookup(client);
        this.snapshots = snapshots;
        this.budgets = budgets;
        this.evictions = evictions;
        this.properties = properties;
        this.grammars = grammars;
        this.subjects =
                new SubjectReader(
                        grammars,
                        new CapacityReader(grammars, asks, settings.sharing()),
                        settings.reach());
        this.clock = clock;
        this.pictures = new RecentPicture(this::read, PATIENCE, clock);
    }

    @Override
    public Optional<Explanation> ofPod(
            String namespace, String name, int detailed, Predicate<String> shown) {
        return pods.find(namespace, name)
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

    @Override
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
        if (!budgets.areKnown() || !evictions.areListed() || snapshots.whyNot().isPresent()) {
            throw NotSeenException.early();
        }
        Instant now = clock.instant();
        Instant back = now.minus(properties.lookBack());
        ClusterSnapshotReader.Reading reading = snapshots.read(evictions.past(back));
        return new Seen(
                new Picture(reading.snapshot(), grammars::reads),
                reading.groups(),
                reading.nodePods(),
                reading.paused());
    }
}

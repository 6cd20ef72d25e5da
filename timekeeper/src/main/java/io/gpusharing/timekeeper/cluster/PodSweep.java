package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Searches all pods now and then for those that ask for GPUs but do not carry our label. Pods are
 * read page by page, and only those found are kept. A pod that cannot be read ends no sweep: it is
 * reported as such, and what was found of it before holds.
 */
@Component
class PodSweep extends LeaderTask {

    private static final Duration UNTIL_LISTED = Duration.ofSeconds(10);

    /** Each attempt lists all pods. */
    private static final Duration RETRY = Duration.ofSeconds(30);

    /** So many times as long as a sweep took. */
    private static final int REST = 4;

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final PodReader reader;
    private final ClusterView view;
    private final PodEventHandler handler;
    private final SweepProperties properties;
    private final Clock clock;
    private final UnreadPods unread;

    PodSweep(
            KubernetesClient client,
            RequestGrammars grammars,
            PodReader reader,
            ClusterView view,
            PodEventHandler handler,
            SweepProperties properties,
            UnreadableObjects unreadable,
            Leadership leadership,
            Clock clock) {
        super("pod-sweep", RETRY, leadership, clock);
        this.client = client;
        this.grammars = grammars;
        this.reader = reader;
        this.view = view;
        this.handler = handler;
        this.clock = clock;
        this.properties = properties;
        this.unread = new UnreadPods(unreadable);
    }

    @Override
    protected void handOver() {
        unread.forgetAll();
    }

    /** Sweeps once the pods that are watched are known. */
    @Override
    protected @Nullable Instant work(Instant now) {
        if (properties.every().isZero()) {
            return null;
        }
        if (!view.listed()) {
            return now.plus(UNTIL_LISTED);
        }
        handler.onEvent(sweep());
        // The API server is not to spend more than a fifth of its time on it.
        Instant swept = clock.instant();
        Instant rested = swept.plus(Duration.between(now, swept).multipliedBy(REST));
        Instant next = now.plus(properties.every());
        return rested.isAfter(next) ? rested : next;
    }

    private PodEvent.Resync sweep() {
        var found = new ArrayList<PodFacts>();
        unread.listing();
        StreamedList.of(client, Pod.class)
                .withLabels(Names.METERED_LABEL + "!=true")
                .forEach(pod -> {
                    if (pod.getSpec().getNodeName() != null) {
                        unread.read(pod, this::holder).flatMap(it -> it).ifPresent(found::add);
                    }
                });
        return new PodEvent.Resync(List.copyOf(found), unread.listed(), clock.instant());
    }

    private Optional<PodFacts> holder(Pod pod) {
        return Optional.of(reader.read(pod)).filter(facts -> facts.holdsGpus(grammars));
    }
}

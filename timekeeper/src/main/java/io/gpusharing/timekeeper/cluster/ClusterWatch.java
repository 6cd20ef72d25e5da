package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Deleted;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Resync;
import io.gpusharing.timekeeper.cluster.PodEvent.Unlabelled;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import io.gpusharing.web.Part;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Keeps the {@link ClusterView}. While we lead it also reports to the handler of pod events: with
 * each term the pods are watched again, from the position of the last term, whichever replica led
 * it.
 */
@Component
public class ClusterWatch implements SmartLifecycle, OfferedGpus, GpuNodes, PodFeed, Part {

    private static final Logger log = LoggerFactory.getLogger(ClusterWatch.class);

    /** A bookmark comes each minute. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(75);

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final ClusterProperties properties;
    private final ClusterView view;
    private final PodEventHandler handler;
    private final List<PodObserver> observers;
    private final Leadership leadership;
    private final Clock clock;
    private final PodReader reader;
    private final UnreadableObjects unreadable;
    private final UnreadableObjects ofObservers;
    private final Rounds watching;
    private final PlacedOn gpus;

    private @Nullable NodeWatch nodes;
    private @Nullable PodWatch pods;
    private @Nullable Relay relay;

    ClusterWatch(
            KubernetesClient client,
            RequestGrammars grammars,
            PodReader reader,
            ClusterProperties properties,
            ClusterView view,
            PlacedOn gpus,
            PodEventHandler handler,
            List<PodObserver> observers,
            UnreadableObjects unreadable,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        this.client = client;
        this.grammars = grammars;
        this.properties = properties;
        this.view = view;
        this.gpus = gpus;
        this.handler = handler;
        this.observers = List.copyOf(observers);
        this.leadership = leadership;
        this.clock = clock;
        this.reader = reader;
        this.unreadable = unreadable;
        this.ofObservers = unreadable.ofReader();
        this.watching = new Rounds("watching", properties.watchRetry(), log, clock);
        Gauge.builder("gpusharing.watch.silent", this, it -> it.silence().toMillis() / 1_000.0)
                .baseUnit("seconds")
                .description(
                        "Since when the watch of pods has heard nothing of the API server, which"
                                + " speaks every minute; more than a few of them is an alert")
                .register(registry);
        leadership.listen(this::watch, this::watch);
    }

    @Override
    public Rounds rounds() {
        return watching;
    }

    @Override
    public synchronized void start() {
        nodes = new NodeWatch(client, grammars, view, unreadable);
        nodes.start();
        watch();
    }

    @Override
    public synchronized Optional<List<Map<String, Quantity>>> offered() {
        return nodes == null ? Optional.empty() : nodes.offered();
    }

    @Override
    public synchronized List<NodeFacts> nodes() {
        return nodes == null ? List.of() : nodes.present();
    }

    /** For how long the API server has said nothing of pods; zero while nobody watches. */
    synchronized Duration silence() {
        return pods == null ? Duration.ZERO : Duration.between(pods.heard(), clock.instant());
    }

    @Override
    public synchronized boolean isLive() {
        return pods != null && !watching.pausing() && silence().compareTo(LONGEST_SILENCE) <= 0;
    }

    private synchronized void watch() {
        if (nodes == null) {
            return;
        }
        stopPods();
        Relay next = new Relay(nodes, leadership.leads());
        relay = next;
        pods =
                new PodWatch(
                        client,
                        unreadable,
                        this::read,
                        next,
                        properties.watchRetry(),
                        next.reporting ? handler::position : Optional::empty,
                        watching,
                        clock);
        pods.start();
    }

    private void stopPods() {
        if (pods != null) {
            pods.close();
        }
        if (relay != null) {
            relay.close();
        }
        pods = null;
        relay = null;
    }

    @Override
    public synchronized void stop() {
        stopPods();
        if (nodes != null) {
            nodes.close();
        }
        nodes = null;
    }

    @Override
    public synchronized boolean isRunning() {
        return pods != null;
    }

    private PodFacts read(Pod pod) {
        PodFacts facts = reader.read(pod);
        // What an observer fails on is charged all the same.
        observers.forEach(observer -> ofObservers.handOver(pod, observer::onPod));
        return facts;
    }

    /** The view is updated first, so that the handler finds there what was reported. */
    private final class Relay implements Consumer<PodEvent>, AutoCloseable {

        private final NodeWatch nodeWatch;
        private final boolean reporting;
        private boolean closed;

        /**
         * @param reporting whether the handler of pod events gets it, too
         */
        Relay(NodeWatch nodeWatch, boolean reporting) {
            this.nodeWatch = nodeWatch;
            this.reporting = reporting;
        }

        /** From now on another one relays; what a watch that ends still reports is dropped. */
        @Override
        public synchronized void close() {
            closed = true;
        }

        @Override
        public void accept(PodEvent event) {
            switch (event) {
                case Listed listed -> {
                    nodeWatch.awaitSynced();
                    gpus.learnAll();
                    listed.pods().forEach(this::learnNode);
                }
                case Updated updated -> learnNode(updated.pod());
                case Resync resync -> resync.pods().forEach(gpus::learn);
                case Deleted deleted -> gpus.learn(deleted.pod());
                case Unlabelled unlabelled -> gpus.learn(unlabelled.pod());
                case Bookmark _ -> {}
            }
            relay(event);
        }

        private synchronized void relay(PodEvent event) {
            if (closed) {
                return;
            }
            switch (event) {
                case Listed listed -> view.replacePods(listed.pods(), listed.unread());
                case Updated updated -> view.put(updated.pod());
                case Deleted deleted -> view.remove(deleted.pod());
                case Unlabelled unlabelled -> view.remove(unlabelled.pod());
                case Bookmark _, Resync _ -> {}
            }
            if (reporting) {
                handler.onEvent(event);
            }
        }

        private void learnNode(PodFacts pod) {
            String node = pod.placement().node();
            if (node != null && view.node(node).isEmpty()) {
                nodeWatch.fetch(node);
                // Read once: a node that is gone already remains unknown.
                view.putIfAbsent(node, NodeFacts.UNKNOWN);
            }
            gpus.learn(pod);
        }
    }
}

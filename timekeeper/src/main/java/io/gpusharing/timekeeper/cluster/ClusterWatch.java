package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodReader;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Keeps the {@link ClusterView}. While we lead it also reports to the handler of pod events: with
 * each term the pods are watched anew, from where the handler's last term came to, whoever led it.
 */
@Component
public class ClusterWatch implements SmartLifecycle, OfferedGpus {

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final ClusterProperties properties;
    private final ClusterView view;
    private final PodEventHandler handler;
    private final List<PodObserver> observers;
    private final Leadership leadership;
    private final PodReader reader;

    private @Nullable NodeWatch nodes;
    private @Nullable PodWatch pods;
    private @Nullable Relay relay;

    ClusterWatch(
            KubernetesClient client,
            RequestGrammars grammars,
            PodReader reader,
            ClusterProperties properties,
            ClusterView view,
            PodEventHandler handler,
            List<PodObserver> observers,
            Leadership leadership) {
        this.client = client;
        this.grammars = grammars;
        this.properties = properties;
        this.view = view;
        this.handler = handler;
        this.observers = List.copyOf(observers);
        this.leadership = leadership;
        this.reader = reader;
        leadership.listen(this::watch, this::watch);
    }

    @Override
    public synchronized void start() {
        nodes = new NodeWatch(client, grammars, view);
        nodes.start();
        watch();
    }

    @Override
    public synchronized Optional<List<Map<String, Quantity>>> offered() {
        return nodes == null ? Optional.empty() : nodes.offered();
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
                        this::read,
                        next,
                        properties.watchRetry(),
                        next.reporting ? handler::position : Optional::empty);
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
        observers.forEach(observer -> observer.onPod(pod));
        return reader.read(pod);
    }

    /** The view is updated first, so that the handler finds there what was reported. */
    private final class Relay implements PodFeed, AutoCloseable {

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
        public void onList(List<PodFacts> present, String position, boolean resuming) {
            nodeWatch.awaitSynced();
            present.forEach(this::learnNode);
            relay(
                    () -> view.replacePods(present),
                    () -> handler.onList(present, position, resuming));
        }

        @Override
        public void onUpdate(PodFacts pod, String position) {
            learnNode(pod);
            relay(() -> view.put(pod), () -> handler.onUpdate(pod, position));
        }

        @Override
        public void onDelete(PodFacts pod, String position) {
            relay(() -> view.remove(pod), () -> handler.onDelete(pod, position));
        }

        @Override
        public void onUnlabelled(PodFacts pod, String position) {
            relay(() -> view.remove(pod), () -> handler.onUnlabelled(pod, position));
        }

        @Override
        public void onBookmark(String position) {
            relay(() -> {}, () -> handler.onBookmark(position));
        }

        private synchronized void relay(Runnable updateView, Runnable report) {
            if (closed) {
                return;
            }
            updateView.run();
            if (reporting) {
                report.run();
            }
        }

        private void learnNode(PodFacts pod) {
            String node = pod.placement().node();
            if (node != null && view.node(node).isEmpty()) {
                nodeWatch.fetch(node);
                // Asked once: a node that is gone already stays unknown.
                view.putIfAbsent(node, NodeFacts.UNKNOWN);
            }
        }
    }
}

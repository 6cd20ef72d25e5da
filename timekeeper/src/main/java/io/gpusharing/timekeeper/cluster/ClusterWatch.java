package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.metering.PodFacts;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Keeps the {@link ClusterView}, and tells the follower what it saw. */
@Component
public class ClusterWatch implements SmartLifecycle {

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final ClusterProperties properties;
    private final ClusterView view;
    private final PodFollower follower;
    private final List<PodOnlooker> onlookers;
    private final PodReader reader;

    private @Nullable NodeWatch nodes;
    private @Nullable PodWatch pods;

    ClusterWatch(
            KubernetesClient client,
            RequestGrammars grammars,
            ClusterProperties properties,
            ClusterView view,
            PodFollower follower,
            List<PodOnlooker> onlookers) {
        this.client = client;
        this.grammars = grammars;
        this.properties = properties;
        this.view = view;
        this.follower = follower;
        this.onlookers = List.copyOf(onlookers);
        this.reader = new PodReader(grammars::reads);
    }

    @Override
    public void start() {
        NodeWatch nodeWatch = new NodeWatch(client, grammars, view);
        nodeWatch.start();
        PodWatch podWatch =
                new PodWatch(
                        client,
                        this::read,
                        new Relay(nodeWatch),
                        properties.watchRetry(),
                        follower.position().orElse(null));
        podWatch.start();
        nodes = nodeWatch;
        pods = podWatch;
    }

    @Override
    public void stop() {
        if (pods != null) {
            pods.close();
        }
        if (nodes != null) {
            nodes.close();
        }
        pods = null;
        nodes = null;
    }

    @Override
    public boolean isRunning() {
        return pods != null;
    }

    private PodFacts read(Pod pod) {
        onlookers.forEach(onlooker -> onlooker.saw(pod));
        return reader.read(pod);
    }

    /** The view first, so that whoever is told finds there what he was told. */
    private final class Relay implements PodFeed {

        private final NodeWatch nodeWatch;

        Relay(NodeWatch nodeWatch) {
            this.nodeWatch = nodeWatch;
        }

        @Override
        public void listed(List<PodFacts> present, String position, boolean resuming) {
            nodeWatch.awaitSynced();
            present.forEach(this::learnNode);
            view.replacePods(present);
            follower.listed(present, position, resuming);
        }

        @Override
        public void changed(PodFacts pod, String position) {
            learnNode(pod);
            view.put(pod);
            follower.changed(pod, position);
        }

        @Override
        public void removed(PodFacts pod, String position) {
            view.remove(pod);
            follower.removed(pod, position);
        }

        @Override
        public void passed(String position) {
            follower.passed(position);
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

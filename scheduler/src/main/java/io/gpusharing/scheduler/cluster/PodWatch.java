package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.preemption.RunningPod;
import io.gpusharing.scheduler.preemption.RunningPods;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Follows the pods that may hold GPUs of ours: those that admission has labelled, whoever placed
 * them, and those that name our scheduler, whatever their labels. They are two watches, since the
 * API server takes no "or". Where the cluster's own scheduler asks us there is the first one alone:
 * by its name one would follow all pods of the cluster.
 */
final class PodWatch {

    private final Clock clock;
    private final ClusterGpus gpus;
    private final RunningPods running;
    private final ObjectInformer.Handler<Pod> follower;
    private final GpuPodReader reader;
    private final RunningPodReader runningReader;
    private final ObjectInformer<Pod> metered;
    private final @Nullable ObjectInformer<Pod> others;

    PodWatch(
            KubernetesClient client,
            GpuPodReader reader,
            RunningPodReader runningReader,
            ClusterGpus gpus,
            RunningPods running,
            ObjectInformer.Handler<Pod> follower,
            SchedulerName schedulerName,
            UnreadableObjects unreadable,
            Clock clock) {
        this.clock = clock;
        this.gpus = gpus;
        this.running = running;
        this.follower = follower;
        this.reader = reader;
        this.runningReader = runningReader;
        this.metered =
                new ObjectInformer<>(
                        "pods",
                        client.pods().inAnyNamespace().withLabel(Names.METERED_LABEL, "true"),
                        unreadable);
        this.others =
                schedulerName.isNamed()
                        ? new ObjectInformer<>(
                                "pods of " + schedulerName.name(),
                                client.pods()
                                        .inAnyNamespace()
                                        .withLabelNotIn(Names.METERED_LABEL, "true")
                                        .withField("spec.schedulerName", schedulerName.name()),
                                unreadable)
                        : null;
    }

    private final class Handler implements ObjectInformer.Handler<Pod> {

        private final ObjectInformer<Pod> own;
        private final @Nullable ObjectInformer<Pod> other;
        private final ObjectInformer.Handler<Pod> follower;

        Handler(
                ObjectInformer<Pod> own,
                @Nullable ObjectInformer<Pod> other,
                ObjectInformer.Handler<Pod> follower) {
            this.own = own;
            this.other = other;
            this.follower = follower;
        }

        @Override
        public void onUpdate(Pod pod) {
            // Of one that has changed again, or is gone, the last word is still to come.
            if (!isLatest(pod) || pod.getSpec() == null) {
                return;
            }
            try {
                see(pod, pod.getSpec().getNodeName());
            } finally {
                // Of one that cannot be read no more is remembered than of others.
                strip(pod);
            }
        }

        private void see(Pod pod, @Nullable String node) {
            // The other watch may show the same pod at this moment, with another label.
            synchronized (PodWatch.this) {
                if (PodPhase.hasEnded(pod)) {
                    release(pod);
                    follower.onDelete(pod);
                    return;
                }
                try {
                    if (node != null) {
                        take(pod, node);
                    }
                } finally {
                    follower.onUpdate(pod);
                }
            }
        }

        private void take(Pod pod, String node) {
            try {
                GpuPod placed = reader.placed(pod);
                if (!placed.asks().isEmpty()) {
                    RunningPod runs = runningReader.running(pod);
                    gpus.bind(placed, node);
                    gpus.written(placed, isToldWhyItWaits(pod), clock.instant());
                    running.put(runs, node);
                }
            } catch (RuntimeException | StackOverflowError e) {
                // It is nobody's victim, since nobody knows how important it is.
                running.remove(pod.getMetadata().getUid());
                gpus.bindUnread(
                        pod.getMetadata().getUid(),
                        pod.getMetadata().getNamespace(),
                        pod.getMetadata().getName(),
                        node);
                throw e;
            }
        }

        @SuppressWarnings("ReferenceEquality") // The same version is another object.
        private boolean isLatest(Pod pod) {
            return own.objects().getByKey(Cache.metaNamespaceKeyFunc(pod)) == pod;
        }

        @Override
        public void onDelete(Pod pod) {
            synchronized (PodWatch.this) {
                follower.onDelete(pod);
                Pod there =
                        other == null
                                ? null
                                : other.objects().getByKey(Cache.metaNamespaceKeyFunc(pod));
                // An administrator may have changed its label: the follower follows one watch
                // alone.
                if (there == null
                        || !there.getMetadata().getUid().equals(pod.getMetadata().getUid())) {
                    release(pod);
                }
            }
        }

        private void release(Pod pod) {
            gpus.forget(pod.getMetadata().getUid());
            running.remove(pod.getMetadata().getUid());
        }
    }

    /**
     * The client remembers tens of thousands of pods. What stood in this one is known elsewhere by
     * now; of those that are remembered only who they are is looked at, and which version it is.
     */
    private static void strip(Pod pod) {
        pod.setMetadata(LeanObjects.identity(pod.getMetadata()));
        pod.setSpec(null);
        pod.setStatus(null);
        pod.setAdditionalProperties(null);
    }

    private static boolean isToldWhyItWaits(Pod pod) {
        return pod.getStatus() != null
                && pod.getStatus().getConditions().stream()
                        .anyMatch(condition ->
                                Names.PLACEMENT_CONDITION.equals(condition.getType())
                                        && "False".equals(condition.getStatus()));
    }

    List<ObjectInformer<Pod>> informers() {
        return others == null ? List.of(metered) : List.of(metered, others);
    }

    void start() {
        // To read them takes several times what is kept of them, and nothing else would give it
        // back.
        var read = metered.start(new Handler(metered, others, follower));
        if (others == null) {
            read.thenRun(System::gc);
        } else {
            var nobody = new ObjectInformer.Handler<Pod>() {};
            read.runAfterBoth(others.start(new Handler(others, metered, nobody)), System::gc);
        }
    }
}

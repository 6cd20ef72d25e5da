package io.gpusharing.scheduler.binding;

import io.fabric8.kubernetes.api.model.Binding;
import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.AnnotationBytes;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.extender.Binder;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Binds a pod to the node that kube-scheduler has chosen. The binding carries the placement, and
 * the API server writes both at once, so no pod is bound without one. It names the pod's UID: a pod
 * that was made anew under the name is not bound in its stead.
 */
@Component
class PodBinder implements Binder {

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final GpuPodReader reader;
    private final UnreadableObjects unreadable;
    private final ClusterGpus gpus;
    private final Clock clock;

    PodBinder(
            KubernetesClient client,
            GpuPodReader reader,
            UnreadableObjects unreadable,
            ClusterGpus gpus,
            Clock clock) {
        // kube-scheduler waits five seconds for us, and then takes the pod for not bound.
        this.client = PromptClient.of(client);
        this.reader = reader;
        this.unreadable = unreadable;
        this.gpus = gpus;
        this.clock = clock;
    }

    @Override
    public Optional<String> bind(String namespace, String name, String uid, String node) {
        Optional<Placement> reserved = gpus.claim(uid, node, clock.instant());
        if (reserved.isPresent()) {
            return place(namespace, name, uid, node, reserved.get());
        }
        // Its reservation has expired, or we have started anew, or it asks for nothing of ours.
        Pod pod = client.pods().inNamespace(namespace).withName(name).get();
        if (pod == null || !pod.getMetadata().getUid().equals(uid)) {
            gpus.forget(uid);
            return Optional.of("the pod is gone");
        }
        if (pod.getSpec().getNodeName() != null) {
            return bound(pod, node);
        }
        Optional<GpuPod> read = unreadable.read(pod, reader::waiting);
        if (read.isEmpty()) {
            return Optional.of("what it asks of GPUs cannot be read");
        }
        GpuPod asking = read.get();
        if (asking.asks().isEmpty()) {
            return write(namespace, name, uid, node, Map.of());
        }
        Optional<Placement> free = gpus.claim(asking, node, clock.instant());
        return free.isPresent()
                ? place(namespace, name, uid, node, free.get())
                : Optional.of("its GPUs on %s are not free any more".formatted(node));
    }

    private Optional<String> place(
            String namespace, String name, String uid, String node, Placement placement) {
        Map<String, String> annotations = placement.annotations(uid);
        long bytes = AnnotationBytes.of(annotations);
        if (bytes > PlacementAnnotation.ROOM) {
            gpus.cancel(uid);
            return Optional.of(
                    "its placement would have %d bytes, %d at most are written: it has too many containers with GPUs"
                            .formatted(bytes, PlacementAnnotation.ROOM));
        }
        return write(namespace, name, uid, node, annotations);
    }

    private Optional<String> write(
            String namespace,
            String name,
            String uid,
            String node,
            Map<String, String> annotations) {
        Binding binding =
                new BindingBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .withUid(uid)
                        .withAnnotations(annotations)
                        .endMetadata()
                        .withNewTarget()
                        .withKind("Node")
                        .withName(node)
                        .endTarget()
                        .build();
        try {
            client.raw(
                    "/api/v1/namespaces/%s/pods/%s/binding".formatted(namespace, name),
                    "POST",
                    binding);
            return Optional.empty();
        } catch (KubernetesClientException e) {
            return unbound(namespace, name, uid, node, e);
        } catch (RuntimeException e) {
            gpus.doubt(uid, clock.instant());
            throw e;
        }
    }

    /** What became of a pod whose binding was not answered with yes. */
    private Optional<String> unbound(
            String namespace,
            String name,
            String uid,
            String node,
            KubernetesClientException problem) {
        if (problem.getCode() == NOT_FOUND) {
            gpus.forget(uid);
            return Optional.of("the pod is gone");
        }
        if (problem.getCode() == CONFLICT) {
            Pod pod = found(namespace, name);
            if (pod != null
                    && pod.getMetadata().getUid().equals(uid)
                    && pod.getSpec().getNodeName() != null) {
                return bound(pod, node);
            }
        }
        if ((problem.getCode() >= 400 && problem.getCode() < 500) || isTooLarge(problem)) {
            gpus.cancel(uid);
        } else {
            // It may have been bound, or be bound in a moment.
            gpus.doubt(uid, clock.instant());
        }
        return Optional.of("it is not bound: " + problem.getMessage());
    }

    /** Etcd takes one and a half MiB, which the API server says by an error of its own, 500. */
    private static boolean isTooLarge(KubernetesClientException problem) {
        return String.valueOf(problem.getMessage()).contains("request is too large");
    }

    private @Nullable Pod found(String namespace, String name) {
        try {
            return client.pods().inNamespace(namespace).withName(name).get();
        } catch (KubernetesClientException e) {
            return null;
        }
    }

    /** Of a pod that is bound already, perhaps by an answer of ours that nobody got. */
    private Optional<String> bound(Pod pod, String node) {
        String there = pod.getSpec().getNodeName();
        if (there.equals(node)) {
            return Optional.empty();
        }
        gpus.cancel(pod.getMetadata().getUid());
        return Optional.of("it is bound to %s already".formatted(there));
    }
}

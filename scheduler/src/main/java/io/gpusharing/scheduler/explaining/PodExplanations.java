package io.gpusharing.scheduler.explaining;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.wire.Explanation;
import java.util.Optional;
import java.util.function.Predicate;

/** Says of pods, and of new ones, where they are or why they wait. */
public interface PodExplanations {

    /**
     * Explains a pod.
     *
     * @param detailed how many nodes are shown with their GPUs at most
     * @param shown namespaces whose pods may be named
     * @return empty if there is no such pod
     * @throws KubernetesClientException if the API server cannot be asked
     * @throws NotSeenException if it takes too long
     */
    Optional<Explanation> ofPod(
            String namespace, String name, int detailed, Predicate<String> shown);

    /**
     * Explains a pod that is not there.
     *
     * @param pod with a uid and the instant of its creation, as the API server would give it one
     * @throws NotReadException if something in it cannot be read
     */
    Explanation ofNewPod(Pod pod, int detailed, Predicate<String> shown);
}

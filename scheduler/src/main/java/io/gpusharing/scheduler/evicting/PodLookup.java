package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads single pods as they are stored now, whole: the scheduler's client passes over the most of a
 * pod, for it remembers all of them.
 */
final class PodLookup {

    private static final JsonMapper JSON = ApiServerJson.mapper().build();

    private final KubernetesClient client;

    PodLookup(KubernetesClient client) {
        this.client = PromptClient.of(client);
    }

    /** The pod of that UID; empty if it is gone, also where another one has its name. */
    Optional<Pod> find(String namespace, String name, String uid) {
        // A path of these two alone: who asks has looked whether they are names.
        String text = client.raw("/api/v1/namespaces/%s/pods/%s".formatted(namespace, name));
        return Optional.ofNullable(text)
                .map(it -> JSON.readValue(it, Pod.class))
                .filter(pod -> uid.equals(pod.getMetadata().getUid()));
    }

    /** Whether its containers may run for longer. */
    static boolean isLiving(Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() == null && !PodPhase.hasEnded(pod);
    }

    /** Whether its containers may run until then, also if it is being deleted. */
    static boolean isLivingAfter(Instant end, Pod pod) {
        Instant deletion = ApiTime.readPresent(pod.getMetadata().getDeletionTimestamp());
        return (deletion == null || deletion.isAfter(end)) && !PodPhase.hasEnded(pod);
    }

    /** Whether an administrator has exempted all pods of a namespace. */
    boolean isExempt(String name) {
        Namespace namespace = client.namespaces().withName(name).get();
        return namespace != null
                && isTrue(
                        namespace.getMetadata().getAnnotations(), Names.DO_NOT_RECLAIM_ANNOTATION);
    }

    /** Whether a label or annotation is set to {@code true}. */
    static boolean isTrue(@Nullable Map<String, String> entries, String key) {
        return entries != null && "true".equals(entries.get(key));
    }
}

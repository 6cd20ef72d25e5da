package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.ObjectName;
import io.gpusharing.kubernetes.PodPhase;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads single pods as they are stored now, whole: the scheduler's client passes over the most of a
 * pod, for it remembers all of them.
 */
public final class PodLookup {

    private static final JsonMapper JSON = ApiServerJson.mapper().build();

    private final KubernetesClient client;

    /** Asks this API server. */
    public PodLookup(KubernetesClient client) {
        this.client = PromptClient.of(client);
    }

    /** The pod of that UID; empty if it is gone, also where another one has its name. */
    public Optional<Pod> find(String namespace, String name, String uid) {
        return find(namespace, name).filter(pod -> uid.equals(pod.getMetadata().getUid()));
    }

    /**
     * The pod of that name; empty if there is none.
     *
     * @throws RuntimeException if these are no names
     */
    public Optional<Pod> find(String namespace, String name) {
        String text =
                client.raw(
                        "/api/v1/namespaces/%s/pods/%s"
                                .formatted(
                                        ObjectName.checked(namespace), ObjectName.checked(name)));
        return Optional.ofNullable(text).map(it -> JSON.readValue(it, Pod.class));
    }

    /** Whether its containers may run for longer. */
    public static boolean isLiving(Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() == null && !PodPhase.hasEnded(pod);
    }

    /** Whether its containers may run until then, also if it is being deleted. */
    public static boolean isLivingAfter(Instant end, Pod pod) {
        Instant deletion = ApiTime.readPresent(pod.getMetadata().getDeletionTimestamp());
        return (deletion == null || deletion.isAfter(end)) && !PodPhase.hasEnded(pod);
    }

    /** Whether an administrator has exempted all pods of a namespace. */
    public boolean isExempt(String name) {
        Namespace namespace = client.namespaces().withName(name).get();
        return namespace != null
                && isTrue(
                        namespace.getMetadata().getAnnotations(), Names.DO_NOT_RECLAIM_ANNOTATION);
    }

    /** Whether a label or annotation is set to {@code true}. */
    public static boolean isTrue(@Nullable Map<String, String> entries, String key) {
        return entries != null && "true".equals(entries.get(key));
    }
}

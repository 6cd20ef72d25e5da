package io.gpusharing.kubernetes;

import static java.net.HttpURLConnection.HTTP_CONFLICT;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes, stores and deletes {@link GpuEviction} objects: of two who do the same, one does. */
public final class GpuEvictions {

    private GpuEvictions() {}

    /** Returns a plan that is to be written; without a name the API server gives it one. */
    public static GpuEviction of(@Nullable String name, Spec spec) {
        var eviction = new GpuEviction();
        eviction.setMetadata(new ObjectMetaBuilder().withName(name).build());
        eviction.setSpec(spec);
        return eviction;
    }

    /** Returns a plan to end one pod, for which nobody waits. */
    public static GpuEviction of(String name, Cause cause, Victim victim) {
        return of(name, new Spec(cause.name(), victim.node(), List.of(victim), null, null, null));
    }

    /**
     * Stores a plan.
     *
     * @return false if one of its name is there
     * @throws KubernetesClientException if the API server does not take it, or cannot be asked
     */
    public static boolean create(KubernetesClient client, GpuEviction eviction) {
        return !isConflict(() -> client.resource(eviction).create());
    }

    /**
     * Deletes a plan as it was read. It may be gone already.
     *
     * @return false if it has changed since
     * @throws KubernetesClientException if that is not allowed, or the API server cannot be asked
     */
    public static boolean delete(KubernetesClient client, GpuEviction eviction) {
        return !isConflict(() ->
                client.resource(eviction)
                        .lockResourceVersion(eviction.getMetadata().getResourceVersion())
                        .delete());
    }

    private static boolean isConflict(Runnable request) {
        try {
            request.run();
            return false;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_CONFLICT) {
                return true;
            }
            throw e;
        }
    }
}

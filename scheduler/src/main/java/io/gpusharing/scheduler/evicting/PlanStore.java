package io.gpusharing.scheduler.evicting;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.util.Optional;

/** Reads and writes {@code GpuEviction} objects, one at a time. */
final class PlanStore {

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;

    PlanStore(KubernetesClient client, UnreadableObjects unreadable) {
        this.client = PromptClient.of(client);
        this.unreadable = unreadable;
    }

    /**
     * The plan as it is stored now: a watch may be late, and what was taken back meanwhile is not
     * carried out.
     *
     * @return empty if it is gone, replaced by another one of its name, or cannot be read
     */
    Optional<Plan> read(Plan known) {
        GpuEviction object = client.resources(GpuEviction.class).withName(known.name()).get();
        return object == null || !known.uid().equals(object.getMetadata().getUid())
                ? Optional.empty()
                : unreadable.read(object, Plan::of);
    }

    /**
     * Writes what has become of a plan, if nobody has written anything about it since it was read.
     *
     * @return the plan with that; empty if somebody has, or has deleted it
     */
    Optional<Plan> write(Plan plan, GpuEviction.Status status) {
        var changed = new GpuEviction();
        changed.setMetadata(plan.object().getMetadata());
        changed.setSpec(plan.object().getSpec());
        changed.setStatus(status);
        try {
            return Optional.of(Plan.of(client.resource(changed).updateStatus()));
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_CONFLICT || e.getCode() == HTTP_NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Whether nothing is to be done any more for the plan of this name.
     *
     * @throws RuntimeException if a later version wrote it
     */
    boolean isOver(String name) {
        GpuEviction object = client.resources(GpuEviction.class).withName(name).get();
        return object != null && !object.isOpen();
    }

    /**
     * Asks for an eviction; nothing happens if one of its name is there.
     *
     * @return whether none was
     */
    boolean ask(GpuEviction eviction) {
        return GpuEvictions.create(client, eviction);
    }
}

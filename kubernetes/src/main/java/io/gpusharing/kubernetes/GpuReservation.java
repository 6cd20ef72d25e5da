package io.gpusharing.kubernetes;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.ApiTime;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuReservation} as the API server stores it: room that was made for a waiting pod. It
 * has the pod's UID for its name.
 */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuReservation")
@Plural("gpureservations")
public class GpuReservation extends CustomResource<GpuReservation.Spec, Void> {

    /**
     * What is kept.
     *
     * @param priority the pod's; only pods of a higher one may have the room
     * @param madeBy a {@link Maker}
     * @param gpus of this node
     * @param victims UIDs of the pods that have to go for it
     * @param until when others get it, RFC 3339
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Spec(
            Waiter pod,
            int priority,
            String madeBy,
            String node,
            List<Gpu> gpus,
            @Nullable List<String> victims,
            String until) {}

    /** The pod. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Waiter(String namespace, String name, String uid) {}

    /**
     * What of one GPU.
     *
     * @param domain the domain in which the pod will share the GPU by MPS; null if it takes turns
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Gpu(
            String uuid, long core, long memoryMiB, boolean whole, @Nullable String domain) {

        static Gpu of(GpuHold hold) {
            return new Gpu(
                    hold.gpu(),
                    hold.cores(),
                    hold.memory(),
                    hold.whole(),
                    hold.sharing().trusted().orElse(null));
        }

        private GpuHold hold() {
            return new GpuHold(uuid, core, memoryMiB, whole, Sharing.inDomain(domain));
        }
    }

    /** Who made room. */
    public enum Maker {
        /** kube-scheduler, by ending pods of lower priority. */
        Preemption,
        /** Our scheduler, by ending pods of budgets that are used up. */
        Reclaim
    }

    /** One that is to be written. */
    public static GpuReservation of(
            Waiter pod,
            int priority,
            Maker madeBy,
            String node,
            List<GpuHold> held,
            Collection<String> victims,
            Instant until) {
        var reservation = new GpuReservation();
        reservation.setMetadata(new ObjectMetaBuilder().withName(pod.uid()).build());
        reservation.setSpec(
                new Spec(
                        pod,
                        priority,
                        madeBy.name(),
                        node,
                        held.stream().map(Gpu::of).toList(),
                        victims.stream().sorted().toList(),
                        until.truncatedTo(ChronoUnit.SECONDS).toString()));
        return reservation;
    }

    /** Writes it, in place of what was kept for the pod before. */
    public void write(KubernetesClient client, String manager) {
        client.resource(this).fieldManager(manager).forceConflicts().serverSideApply();
    }

    /** UIDs of the pods that have to go for it. */
    public Set<String> victims() {
        List<String> victims = getSpec().victims();
        return victims == null ? Set.of() : Set.copyOf(victims);
    }

    /** What the pod will hold. */
    public List<GpuHold> held() {
        return getSpec().gpus().stream().map(Gpu::hold).toList();
    }

    /**
     * When others get it; long ago where that cannot be read, since one odd object stops nobody.
     */
    public Instant until() {
        try {
            return ApiTime.read(getSpec().until());
        } catch (DateTimeParseException e) {
            return Instant.EPOCH;
        }
    }
}

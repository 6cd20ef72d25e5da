package io.gpusharing.scheduler.gpus;

import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.sharing.Strategy;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pod that asks for GPUs of ours.
 *
 * @param asks what its containers ask of physical GPUs, in the pod's order; of a bound pod with the
 *     GPUs that were chosen for each
 * @param containers names of its app containers, in its order
 * @param dialect by which resources it asks
 * @param priority others of the same or a lower one are not pushed aside for it
 * @param end by when it is to have ended if it is being deleted; null if it is not
 * @param strategy which of the GPUs where it fits it gets
 * @param group with whom it is to share one GPU; null if with nobody
 */
public record GpuPod(
        String uid,
        String namespace,
        String name,
        List<ContainerAsk> asks,
        List<String> containers,
        Dialect dialect,
        int priority,
        @Nullable Instant end,
        Strategy strategy,
        @Nullable GpuGroup group) {

    /** One for which nothing is written but our own placement. */
    public GpuPod(String uid, String namespace, String name, List<ContainerAsk> asks) {
        this(
                uid,
                namespace,
                name,
                asks,
                List.of(),
                Dialect.Metagpu,
                0,
                null,
                Strategy.BestFit,
                null);
    }

    /** A bound pod that cannot be read: whatever it asks for, it is no more than all GPUs. */
    static GpuPod unread(String uid, String namespace, String name) {
        var whole = new GpuAsk(1, 100, 0, true);
        return new GpuPod(
                uid,
                namespace,
                name,
                List.of(new ContainerAsk("", Kind.App, whole, Set.of())),
                List.of(),
                Dialect.Metagpu,
                Integer.MAX_VALUE,
                null,
                Strategy.BestFit,
                null);
    }

    public GpuPod {
        asks = List.copyOf(asks);
        containers = List.copyOf(containers);
    }

    /** The same, on this GPU and on no other. */
    GpuPod only(String gpu) {
        return new GpuPod(
                uid,
                namespace,
                name,
                ContainerAsk.only(asks, gpu),
                containers,
                dialect,
                priority,
                end,
                strategy,
                group);
    }
}

package io.gpusharing.deviceplugin.grant;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.placement.Decision;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.sharing.ContainerAsk;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * All grants of this node. Every change is on disk before it is answered, so that this program may
 * end at any time and nobody is placed where somebody runs.
 */
public final class Grants {

    private final GrantFile file;
    private final Consumer<PodGrant> granted;
    private final Runnable changed;
    private final Map<String, PodGrant> byPod = new LinkedHashMap<>();

    /**
     * Starts with what the file says.
     *
     * @param granted told when a pod has been given its GPUs
     * @param changed told after every change
     */
    public Grants(GrantFile file, Consumer<PodGrant> granted, Runnable changed) throws IOException {
        this.file = file;
        this.granted = granted;
        this.changed = changed;
        file.read().forEach(grant -> byPod.put(grant.uid(), grant));
    }

    /** All of them, the oldest first. */
    public synchronized List<PodGrant> all() {
        return List.copyOf(byPod.values());
    }

    /** What a pod was given. */
    public synchronized Optional<PodGrant> of(String podUid) {
        return Optional.ofNullable(byPod.get(podUid));
    }

    /**
     * Places a pod beside all others, and remembers it; one that has its GPUs keeps them.
     *
     * @param gpus the node's
     * @throws IOException if it cannot be remembered; then it is not granted
     */
    public Decision grant(
            String uid, String namespace, String pod, List<ContainerAsk> asks, List<NodeGpu> gpus)
            throws IOException {
        Decision decision;
        PodGrant grant = null;
        synchronized (this) {
            PodGrant before = byPod.get(uid);
            if (before != null) {
                return new Placed(before.containers());
            }
            GpuLayout empty =
                    new GpuLayout(
                            gpus.stream().filter(NodeGpu::isOfUse).map(NodeGpu::empty).toList());
            GpuLayout free =
                    new GpuLayout(
                            gpus.stream().filter(NodeGpu::isUsable).map(NodeGpu::empty).toList());
            for (PodGrant other : byPod.values()) {
                free = free.without(other.held());
            }
            decision = PodPlacement.place(asks, free, empty);
            if (decision instanceof Placed(var containers)) {
                grant = new PodGrant(uid, namespace, pod, containers);
                var all = new LinkedHashMap<>(byPod);
                all.put(uid, grant);
                keep(all);
            }
        }
        if (grant != null) {
            granted.accept(grant);
            changed.run();
        }
        return decision;
    }

    /**
     * Takes back what these pods hold.
     *
     * @return whether there was any
     * @throws IOException if that cannot be written down; then they hold it still
     */
    public boolean release(Predicate<PodGrant> ended) throws IOException {
        synchronized (this) {
            var left = new LinkedHashMap<>(byPod);
            if (!left.values().removeIf(ended)) {
                return false;
            }
            keep(left);
        }
        changed.run();
        return true;
    }

    private void keep(Map<String, PodGrant> all) throws IOException {
        file.write(List.copyOf(all.values()));
        byPod.clear();
        byPod.putAll(all);
    }
}

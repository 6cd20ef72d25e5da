package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.Dialect.ContainerStart;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.deviceplugin.mps.Mps;
import io.gpusharing.placement.Decision;
import io.gpusharing.placement.Decision.Never;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.Decision.Wait;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.PlacementAnnotation;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides whether a container starts now, and with which GPUs. It may be asked twice, late, or for
 * a container that will not start: what a pod was given once it keeps until it has ended.
 */
final class ContainerStarts {

    /** The kubelet has the pod from the same API server. */
    private static final Duration FOR_THE_POD = Duration.ofSeconds(5);

    private static final Duration FOR_ROOM = Duration.ofSeconds(20);

    /** The kubelet itself waits 30 seconds: what is answered later is answered to nobody. */
    private static final Duration IN_ALL = Duration.ofSeconds(25);

    private final Dialect dialect;
    private final UnitHolders holders;
    private final NodePods pods;
    private final NodeGpus gpus;
    private final UnitPlaces places;
    private final Grants grants;
    private final EndedPods ended;
    private final StartFiles files;
    private final RefusedPods refused;
    private final Mps mps;
    private final Pacing pacing;

    ContainerStarts(
            Dialect dialect,
            UnitHolders holders,
            NodePods pods,
            NodeGpus gpus,
            UnitPlaces places,
            Grants grants,
            EndedPods ended,
            StartFiles files,
            RefusedPods refused,
            Mps mps,
            Pacing pacing) {
        this.dialect = dialect;
        this.holders = holders;
        this.pods = pods;
        this.gpus = gpus;
        this.places = places;
        this.grants = grants;
        this.ended = ended;
        this.files = files;
        this.refused = refused;
        this.mps = mps;
        this.pacing = pacing;
    }

    /**
     * Prepares the start of the container that holds these units of a resource.
     *
     * @throws StartRefused if it must not start now; nothing has changed then, but perhaps that the
     *     pod has its GPUs
     */
    void prepare(String resource, Set<String> units) throws StartRefused {
        Instant asked = pacing.clock().instant();
        List<Entry> entries = holders.find(resource, units);
        NodePod pod = pod(entries.getFirst().podUid());
        refused.tried(pod, grants.of(pod.uid()).isPresent());
        try {
            prepare(asked, pod, resource, entries);
        } catch (StartRefused e) {
            // A plugin that ends says nothing of the pod.
            if (!Thread.currentThread().isInterrupted()) {
                refused.refused(pod, asked, e);
            }
            throw e;
        }
        refused.prepared(pod);
    }

    private void prepare(Instant asked, NodePod pod, String resource, List<Entry> entries)
            throws StartRefused {
        try {
            holders.confirm(pod, resource, entries);
            files.begin(pod.uid());
            try {
                List<ContainerPlacement> containers = grant(asked, pod, resource, entries);
                for (Entry entry : entries) {
                    open(asked, entry, pod, containers);
                }
            } finally {
                files.begun(pod.uid());
            }
        } catch (IOException e) {
            throw new StartRefused("It cannot be prepared: " + e.getMessage());
        } catch (InterruptedException e) {
            throw ending();
        }
    }

    private NodePod pod(String uid) throws StartRefused {
        NodePod pod =
                await(uid)
                        .orElseThrow(() ->
                                new StartRefused(
                                        "The API server has no pod with UID %s on this node. A static pod cannot have a part of a GPU"
                                                .formatted(uid)));
        if (pod.isStatic()) {
            throw new StartRefused("A static pod cannot have a part of a GPU");
        }
        return pod;
    }

    private Optional<NodePod> await(String uid) throws StartRefused {
        try {
            return pods.await(uid, FOR_THE_POD);
        } catch (InterruptedException e) {
            throw ending();
        }
    }

    private static StartRefused ending() {
        Thread.currentThread().interrupt();
        return new StartRefused("The device plugin is ending");
    }

    private List<ContainerPlacement> grant(
            Instant asked, NodePod pod, String resource, List<Entry> entries)
            throws StartRefused, IOException, InterruptedException {
        Pacing.Deadline deadline = pacing.deadline(FOR_ROOM).orAt(asked.plus(IN_ALL));
        while (true) {
            if (pods.byUid(pod.uid()).map(NodePod::ended).orElse(true)) {
                throw new StartRefused("It has ended or was deleted");
            }
            switch (place(pod, resource, entries)) {
                case Placed(var containers) -> {
                    return containers;
                }
                case Never(var reason) ->
                        throw StartRefused.forEver("It fits on no GPU of this node: " + reason);
                case Wait(var reason) -> {
                    if (deadline.isOver()) {
                        throw new StartRefused("No GPU has room: " + reason);
                    }
                }
            }
            if (!ended.release()) {
                pacing.pause();
            }
        }
    }

    /**
     * Where nobody has placed it, on the NUMA nodes that the kubelet has chosen, if it fits there.
     */
    private Decision place(NodePod pod, String resource, List<Entry> entries)
            throws StartRefused, IOException {
        List<NodeGpu> all = gpus.all();
        List<ContainerAsk> asks = asks(pod);
        List<NodeGpu> near =
                asks.stream().allMatch(ask -> ask.on().isEmpty())
                        ? places.near(resource, entries, all)
                        : all;
        Decision there = grants.grant(pod.uid(), pod.namespace(), pod.name(), asks, near);
        return there instanceof Placed || near.size() == all.size()
                ? there
                : grants.grant(pod.uid(), pod.namespace(), pod.name(), asks, all);
    }

    /**
     * Grants a running pod the GPUs that its scheduler has written on it, after its grant was lost.
     *
     * @return whether it has them now
     */
    boolean grantAgain(NodePod pod) throws IOException {
        try {
            List<ContainerAsk> asks = asks(pod);
            return asks.stream().noneMatch(ask -> ask.on().isEmpty())
                    && grants.grant(pod.uid(), pod.namespace(), pod.name(), asks, gpus.all())
                            instanceof Placed;
        } catch (StartRefused e) {
            return false;
        }
    }

    private List<ContainerAsk> asks(NodePod pod) throws StartRefused {
        List<ContainerAsk> asks =
                ContainerAsk.chosen(ProviderAsk.asks(pod.request(), dialect::asks), placed(pod));
        return ContainerAsk.shared(asks, mps.sharing(pod, asks));
    }

    /** The GPUs that a scheduler has chosen, by container. */
    private static Map<String, Set<String>> placed(NodePod pod) throws StartRefused {
        String text = pod.annotations().get(PlacementAnnotation.KEY);
        if (text == null) {
            return Map.of();
        }
        return PlacementAnnotation.parse(text)
                .filter(placement -> placement.podUid().equals(pod.uid()))
                .orElseThrow(() ->
                        StartRefused.forEver(
                                "Its annotation %s is not the placement of this pod, which has to be placed anew: %s"
                                        .formatted(PlacementAnnotation.KEY, text)))
                .gpus();
    }

    private void open(Instant asked, Entry entry, NodePod pod, List<ContainerPlacement> containers)
            throws StartRefused, IOException, InterruptedException {
        ContainerPlacement grant =
                containers.stream()
                        .filter(it -> it.container().equals(entry.container()))
                        .findFirst()
                        .orElseThrow(() ->
                                StartRefused.forEver(
                                        "When the pod was given its GPUs, it had no container %s that asks for any"
                                                .formatted(entry.container())));
        List<NodeGpu> own = HealthyGpus.of(grant, gpus.all());
        ContainerRequest container =
                pod.request().containers().stream()
                        .filter(it -> it.name().equals(entry.container()))
                        .findFirst()
                        .orElseThrow();
        long podUnits =
                pod.request().containers().stream()
                        .mapToLong(it -> ProviderAsk.units(it, entry.resource()))
                        .sum();
        var start = new ContainerStart(container, podUnits, entry.ids().stream().sorted().toList());
        if (entry.cdiDevices().isEmpty()) {
            throw notOurs();
        }
        await(asked, pod, grant);
        for (String name : entry.cdiDevices()) {
            CdiDevice device = CdiDevice.of(name).orElseThrow(ContainerStarts::notOurs);
            files.open(
                    asked, device, pod, grant, own, dialect.environment(start, grant.gpus(), own));
        }
    }

    /** Until all of its GPUs are in the mode in which it is to use them. */
    private void await(Instant asked, NodePod pod, ContainerPlacement grant)
            throws StartRefused, IOException, InterruptedException {
        Pacing.Deadline deadline = pacing.deadline(FOR_ROOM).orAt(asked.plus(IN_ALL));
        for (GpuHold hold : grant.gpus()) {
            Optional<Mps.Obstacle> obstacle = mps.obstacle(pod, grant.container(), hold);
            while (obstacle.isPresent()) {
                String reason = obstacle.get().reason();
                if (obstacle.get().isForEver()) {
                    throw StartRefused.forEver(reason);
                }
                if (deadline.isOver()) {
                    throw new StartRefused(reason);
                }
                pacing.pause();
                obstacle = mps.obstacle(pod, grant.container(), hold);
            }
        }
    }

    private static StartRefused notOurs() {
        return StartRefused.forEver(
                "Its units were handed out by another device plugin; the pod has to be made anew");
    }
}

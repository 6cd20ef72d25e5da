package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the status of a node's {@code GpuNode} says: its GPUs, who holds what of each, and who was
 * refused. The same GPUs, grants and refusals always make the same status, in whichever order they
 * come.
 *
 * @param tier how those who share a GPU are kept apart
 * @param resources by which pods ask for the GPUs
 * @param gpus by NVML's number
 * @param refused the oldest first
 */
public record GpuNodeStatus(
        String tier, List<String> resources, List<Gpu> gpus, List<RefusedPod> refused) {

    /** They take turns, and nothing limits them. */
    public static final String TIME_SLICE = "TimeSlice";

    /** Those that trust each other share by MPS, within limits that they can lift. */
    public static final String COOPERATIVE = "Cooperative";

    /** Stands for all containers of a pod; none has it for a name. */
    private static final String ALL = "*";

    /** The API server stores a megabyte and a half; GPUs and refusals have their part of it. */
    private static final long MOST_BYTES = 1_000_000;

    /** A grant at its longest, but for its names. */
    private static final long OF_A_GRANT = 520;

    /** Who may be on a GPU. */
    public enum Mode {
        /** Nobody holds any of it. */
        Idle,
        /** Several may. */
        Shared,
        /** One container has all of it. */
        Whole
    }

    /**
     * One GPU.
     *
     * @param numaNode null where it is not known
     * @param grants by namespace, pod and container
     */
    public record Gpu(
            NodeGpu gpu, @Nullable Integer numaNode, Mode mode, List<GrantedContainer> grants) {

        public Gpu {
            grants = List.copyOf(grants);
        }
    }

    /**
     * What one container holds of a GPU: hundredths of its processors, and memory. An init
     * container holds it before those that follow, not beside them.
     */
    public record GrantedContainer(
            String podUid,
            String namespace,
            String pod,
            String container,
            Kind kind,
            long core,
            long memoryMiB,
            Sharing sharing) {

        private static final Comparator<GrantedContainer> ORDER =
                Comparator.comparing(GrantedContainer::namespace)
                        .thenComparing(GrantedContainer::pod)
                        .thenComparing(GrantedContainer::podUid)
                        .thenComparing(GrantedContainer::container);
    }

    public GpuNodeStatus {
        resources = List.copyOf(resources);
        gpus = List.copyOf(gpus);
        refused = List.copyOf(refused);
    }

    /**
     * The status of a node. Where it would be too long to be stored if it said what each container
     * holds, it says what each pod does.
     *
     * @param tier how those who share a GPU are kept apart
     * @param resources by which pods ask for its GPUs
     * @param numaNode of a PCI device, null where it is not known
     */
    public static GpuNodeStatus of(
            String tier,
            List<String> resources,
            List<NodeGpu> gpus,
            List<PodGrant> grants,
            List<RefusedPod> refused,
            Function<String, @Nullable Integer> numaNode) {
        List<PodGrant> told =
                bytes(grants) <= MOST_BYTES
                        ? grants
                        : grants.stream().map(GpuNodeStatus::inAll).toList();
        return new GpuNodeStatus(
                tier,
                resources,
                gpus.stream()
                        .sorted(
                                Comparator.comparingInt((NodeGpu gpu) -> gpu.physical().index())
                                        .thenComparing(NodeGpu::uuid))
                        .map(gpu -> gpu(gpu, told, numaNode.apply(gpu.physical().pciBusId())))
                        .toList(),
                refused.stream().sorted(RefusedPod.ORDER).toList());
    }

    private static long bytes(List<PodGrant> grants) {
        return grants.stream()
                .mapToLong(pod ->
                        pod.containers().stream()
                                .mapToLong(it ->
                                        it.gpus().size()
                                                * (OF_A_GRANT
                                                        + pod.namespace().length()
                                                        + pod.pod().length()
                                                        + it.container().length()))
                                .sum())
                .sum();
    }

    private static PodGrant inAll(PodGrant pod) {
        return new PodGrant(
                pod.uid(),
                pod.namespace(),
                pod.pod(),
                List.of(new ContainerPlacement(ALL, Kind.App, pod.held())));
    }

    private static Gpu gpu(NodeGpu gpu, List<PodGrant> grants, @Nullable Integer numaNode) {
        var held = new ArrayList<GrantedContainer>();
        Mode mode = Mode.Idle;
        for (PodGrant pod : grants) {
            for (ContainerPlacement container : pod.containers()) {
                for (GpuHold hold : container.gpus()) {
                    if (hold.gpu().equals(gpu.uuid())) {
                        mode = hold.whole() || mode == Mode.Whole ? Mode.Whole : Mode.Shared;
                        held.add(
                                new GrantedContainer(
                                        pod.uid(),
                                        pod.namespace(),
                                        pod.pod(),
                                        container.container(),
                                        container.kind(),
                                        hold.cores(),
                                        hold.memory(),
                                        hold.sharing()));
                    }
                }
            }
        }
        held.sort(GrantedContainer.ORDER);
        return new Gpu(gpu, numaNode, mode, held);
    }

    /** As it is written; what is not known is absent. */
    public JsonObject json() {
        var all = new JsonArray();
        gpus.forEach(gpu -> all.add(json(gpu)));
        var status = new JsonObject();
        status.addProperty("tier", tier);
        var names = new JsonArray();
        resources.forEach(names::add);
        status.add("resources", names);
        // kubectl's columns cannot count.
        status.addProperty("gpuCount", gpus.size());
        status.addProperty(
                "unhealthyCount", gpus.stream().filter(gpu -> gpu.gpu().fault() != null).count());
        status.add("gpus", all);
        var refusals = new JsonArray();
        refused.forEach(pod -> refusals.add(pod.json()));
        // Also if there are none: a merge patch takes away only what it names.
        status.add("refused", refusals);
        return status;
    }

    private static JsonObject json(Gpu gpu) {
        PhysicalGpu physical = gpu.gpu().physical();
        var json = new JsonObject();
        json.addProperty("index", physical.index());
        json.addProperty("uuid", physical.uuid());
        json.addProperty("minor", physical.minor());
        addIfKnown(json, "model", physical.model());
        json.addProperty("memoryMiB", physical.memoryMiB());
        if (physical.unifiedMemory()) {
            json.addProperty("unifiedMemory", true);
        }
        addIfKnown(json, "pciBusId", physical.pciBusId());
        if (gpu.numaNode() != null) {
            json.addProperty("numaNode", gpu.numaNode());
        }
        json.addProperty("mig", physical.mig());
        String fault = gpu.gpu().fault();
        json.addProperty("health", fault == null ? "Healthy" : "Unhealthy");
        if (fault != null) {
            json.addProperty("reason", fault);
        }
        json.addProperty("mode", gpu.mode().name());
        var grants = new JsonArray();
        gpu.grants().forEach(grant -> grants.add(json(grant)));
        json.add("grants", grants);
        return json;
    }

    private static void addIfKnown(JsonObject json, String name, String text) {
        if (!text.isEmpty()) {
            json.addProperty(name, text);
        }
    }

    private static JsonObject json(GrantedContainer grant) {
        var json = new JsonObject();
        json.addProperty("podUid", grant.podUid());
        json.addProperty("namespace", grant.namespace());
        json.addProperty("pod", grant.pod());
        json.addProperty("container", grant.container());
        json.addProperty("kind", grant.kind().name());
        json.addProperty("core", grant.core());
        json.addProperty("memoryMiB", grant.memoryMiB());
        grant.sharing().trusted().ifPresent(it -> json.addProperty("domain", it));
        return json;
    }
}

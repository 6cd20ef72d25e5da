package io.gpusharing.placement;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toUnmodifiableSet;

import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.GpuNodeStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node that shares its GPUs, as its device plugin describes it. GPUs that are split by MIG are
 * left out.
 *
 * @param gpus those on which containers may start, as if nobody held any of them
 * @param unhealthy the others
 * @param granted what pods were given, by the pod's UID
 * @param indexes NVML's numbers of GPUs by UUID, where they are known
 * @param model of the first GPU by NVML; empty if it is not known
 * @param servesMps whether pods may share a GPU by MPS there
 * @param refused UIDs of pods to which the device plugin gives none, now or later
 */
public record SharedNode(
        String name,
        List<Gpu> gpus,
        List<Gpu> unhealthy,
        Map<String, List<GpuHold>> granted,
        Map<String, Integer> indexes,
        String model,
        boolean servesMps,
        Set<String> refused) {

    private static final long CORES = 100;

    /** One without MPS, where every pod may be given GPUs, and of which no numbers are known. */
    public SharedNode(
            String name, List<Gpu> gpus, List<Gpu> unhealthy, Map<String, List<GpuHold>> granted) {
        this(name, gpus, unhealthy, granted, Map.of(), "", false, Set.of());
    }

    public SharedNode {
        gpus = servesMps ? List.copyOf(gpus) : gpus.stream().map(Gpu::withoutMps).toList();
        unhealthy = List.copyOf(unhealthy);
        granted = Map.copyOf(granted);
        indexes = Map.copyOf(indexes);
        refused = Set.copyOf(refused);
    }

    /** All GPUs, healthy or not, as if nobody held any. */
    public GpuLayout all() {
        return new GpuLayout(Stream.concat(gpus.stream(), unhealthy.stream()).toList());
    }

    /** What the node has while it is empty. */
    public FreeCapacity empty(Amounts allocatable) {
        return new FreeCapacity(allocatable, new GpuLayout(gpus), true);
    }

    /** Whether it is written of all of a pod's containers on which GPUs they are. */
    public static boolean isPlaced(List<ContainerAsk> asks) {
        return asks.stream().allMatch(ask -> ask.on().size() == ask.ask().count());
    }

    /**
     * What a pod that is bound here holds of the GPUs on which containers may start: what the
     * device plugin granted it, else what was written on it. A pod of which nobody says where it is
     * may be on any of them, or be given any: unless the device plugin has refused it for good.
     *
     * @param asks what its containers ask for, each on the GPUs that were chosen for it if any were
     */
    public List<GpuHold> held(String podUid, List<ContainerAsk> asks) {
        List<GpuHold> known = granted.get(podUid);
        if (known != null) {
            return known;
        }
        if (isPlaced(asks)) {
            return held(
                    asks, ask -> gpus.stream().filter(gpu -> ask.on().contains(gpu.id())).toList());
        }
        return refused.contains(podUid)
                ? List.of()
                : gpus.stream().flatMap(gpu -> held(asks, ask -> List.of(gpu)).stream()).toList();
    }

    /**
     * Micro-GPUs that a pod holds of the GPUs that it is on, which may differ in size: of each the
     * larger of the parts of its processors and of its memory. Empty if nobody says which they are.
     *
     * @param asks as for {@link #held(String, List)}
     */
    public OptionalLong share(String podUid, List<ContainerAsk> asks) {
        if (!granted.containsKey(podUid) && !isPlaced(asks)) {
            return OptionalLong.empty();
        }
        Map<String, Gpu> byId =
                all().gpus().stream().collect(Collectors.toMap(Gpu::id, gpu -> gpu));
        List<GpuHold> holds = held(podUid, asks);
        return holds.isEmpty() || !holds.stream().allMatch(it -> byId.containsKey(it.gpu()))
                ? OptionalLong.empty()
                : OptionalLong.of(
                        holds.stream()
                                .mapToLong(
                                        it -> share(it, Objects.requireNonNull(byId.get(it.gpu()))))
                                .sum());
    }

    private static long share(GpuHold hold, Gpu gpu) {
        if (hold.whole()) {
            return GpuShare.WHOLE;
        }
        long memory = gpu.size() == 0 ? 0 : hold.memory() * GpuShare.WHOLE / gpu.size();
        return Math.max(hold.cores() * GpuShare.WHOLE / CORES, memory);
    }

    private static List<GpuHold> held(
            List<ContainerAsk> asks, Function<ContainerAsk, List<Gpu>> where) {
        return ContainerPlacement.held(
                asks.stream()
                        .map(ask ->
                                new ContainerPlacement(
                                        ask.container(),
                                        ask.kind(),
                                        where.apply(ask).stream()
                                                .map(gpu -> gpu.hold(ask.ask()))
                                                .toList()))
                        .toList());
    }

    /**
     * The GPU of a bound pod that shares one with others: what the device plugin granted it, else
     * what was written on it. Empty if nobody says it.
     *
     * @param node null where there is no device plugin of ours
     * @param asks what it asks for, on the GPU that was chosen for it if any was
     */
    public static Optional<String> gpu(
            @Nullable SharedNode node, String podUid, List<ContainerAsk> asks) {
        List<GpuHold> granted = node == null ? null : node.granted().get(podUid);
        return granted == null
                ? asks.stream().flatMap(ask -> ask.on().stream()).findFirst()
                : granted.stream().map(GpuHold::gpu).findFirst();
    }

    /**
     * Its GPUs and who holds them; none while another provider offers them.
     *
     * @param status what its device plugin says; null if nothing yet
     */
    public static SharedNode of(String name, @Nullable GpuNodeStatus status) {
        var usable = new ArrayList<Gpu>();
        var unhealthy = new ArrayList<Gpu>();
        var granted = new HashMap<String, List<ContainerPlacement>>();
        var indexes = new HashMap<String, Integer>();
        List<GpuNodeStatus.Gpu> offered = offered(status);
        for (GpuNodeStatus.Gpu gpu : offered) {
            if (Boolean.TRUE.equals(gpu.mig())) {
                continue;
            }
            if (gpu.index() != null) {
                indexes.put(gpu.uuid(), Math.toIntExact(gpu.index()));
            }
            var empty = new Gpu(gpu.uuid(), CORES, requireNonNullElse(gpu.memoryMiB(), 0L));
            (gpu.health().equals("Healthy") ? usable : unhealthy).add(empty);
            for (GpuNodeStatus.Grant grant :
                    gpu.grants() == null ? List.<GpuNodeStatus.Grant>of() : gpu.grants()) {
                granted.computeIfAbsent(grant.podUid(), uid -> new ArrayList<>())
                        .add(placement(gpu, grant));
            }
        }
        Map<String, List<GpuHold>> held = new HashMap<>();
        granted.forEach((uid, containers) -> held.put(uid, ContainerPlacement.held(containers)));
        return new SharedNode(
                name,
                usable,
                unhealthy,
                held,
                indexes,
                model(offered),
                status != null && GpuNodeStatus.COOPERATIVE.equals(status.tier()),
                refusedForGood(status));
    }

    /**
     * UIDs of pods that are given nothing here any more. Where a container had been let start
     * before, or was after all, the pod may have GPUs although no grant is left of it.
     */
    private static Set<String> refusedForGood(@Nullable GpuNodeStatus status) {
        return status == null || status.refused() == null
                ? Set.of()
                : status.refused().stream()
                        .filter(it -> it.isFinal() && !it.ran() && it.until() == null)
                        .map(GpuNodeStatus.Refused::podUid)
                        .collect(toUnmodifiableSet());
    }

    private static String model(List<GpuNodeStatus.Gpu> offered) {
        return offered.stream()
                .map(GpuNodeStatus.Gpu::model)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("");
    }

    private static List<GpuNodeStatus.Gpu> offered(@Nullable GpuNodeStatus status) {
        if (status == null || status.gpus() == null) {
            return List.of();
        }
        boolean withdrawn = status.resources() != null && status.resources().isEmpty();
        return withdrawn ? List.of() : status.gpus();
    }

    /** A container on two GPUs is two here, and holds the same. */
    private static ContainerPlacement placement(GpuNodeStatus.Gpu gpu, GpuNodeStatus.Grant grant) {
        return new ContainerPlacement(
                grant.container(),
                requireNonNullElse(grant.kind(), Kind.App),
                List.of(
                        new GpuHold(
                                gpu.uuid(),
                                requireNonNullElse(grant.core(), 0L),
                                requireNonNullElse(grant.memoryMiB(), 0L),
                                gpu.mode().equals("Whole"),
                                Sharing.inDomain(grant.domain()))));
    }
}

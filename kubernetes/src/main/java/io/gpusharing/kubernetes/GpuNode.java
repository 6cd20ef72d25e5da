package io.gpusharing.kubernetes;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toUnmodifiableSet;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.placement.ContainerPlacement;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.placement.Sharing;
import io.gpusharing.request.ContainerRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A {@code GpuNode} as the API server stores it; of its status only what is read here. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuNode")
@Plural("gpunodes")
public class GpuNode extends CustomResource<Void, GpuNode.Status> {

    /** The tier of a node that serves MPS. */
    public static final String COOPERATIVE = "Cooperative";

    private static final long CORES = 100;

    /**
     * What the node's device plugin says.
     *
     * @param resources by which pods ask for its GPUs, none while another provider offers them;
     *     null where an older one wrote it
     * @param gpus all GPUs of the node
     * @param refused pods that it did not let start; null where an older one wrote it
     * @param tier how those who share a GPU are kept apart: {@link #COOPERATIVE} where it serves
     *     MPS; null where it is not read
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Status(
            @Nullable List<String> resources,
            @Nullable List<Gpu> gpus,
            @Nullable List<Refused> refused,
            @Nullable String tier) {

        public Status(
                @Nullable List<String> resources,
                @Nullable List<Gpu> gpus,
                @Nullable List<Refused> refused) {
            this(resources, gpus, refused, null);
        }
    }

    /**
     * One GPU. What the definition does not require may be absent: were that not read, one such
     * object would make every list fail.
     *
     * @param index its number by NVML; the definition takes every number of 64 bits
     * @param model its model by NVML
     * @param mig whether it is split, and its parts are another plugin's
     * @param health {@code Healthy} while containers may start on it
     * @param reason what is wrong with it, in words; null while it is healthy
     * @param mode {@code Whole} while one container has all of it
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Gpu(
            String uuid,
            @Nullable Long index,
            @Nullable String model,
            @Nullable Long memoryMiB,
            @Nullable Boolean mig,
            String health,
            @Nullable String reason,
            String mode,
            @Nullable List<Grant> grants) {}

    /**
     * What a container was given of it.
     *
     * @param domain the domain in which it shares the GPU by MPS; null if it takes turns
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Grant(
            String podUid,
            String namespace,
            String pod,
            String container,
            ContainerRequest.@Nullable Kind kind,
            @Nullable Long core,
            @Nullable Long memoryMiB,
            @Nullable String domain) {}

    /**
     * A pod that the device plugin did not let start.
     *
     * @param since when the first attempt began that was refused, RFC 3339
     * @param until when a container was let start after all, or the pod was to end; null while it
     *     waits
     * @param isFinal whether no later attempt on this node can succeed
     * @param ran whether a container with GPUs had been let start before
     * @param reason in words
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Refused(
            String podUid,
            String namespace,
            String pod,
            String since,
            @Nullable String until,
            @JsonProperty("final") boolean isFinal,
            boolean ran,
            String reason) {}

    /** Its GPUs and who holds them, as placing sees it; none while another provider offers them. */
    public SharedNode shared() {
        var usable = new ArrayList<io.gpusharing.placement.Gpu>();
        var unhealthy = new ArrayList<io.gpusharing.placement.Gpu>();
        var granted = new HashMap<String, List<ContainerPlacement>>();
        var indexes = new HashMap<String, Integer>();
        for (Gpu gpu : offered()) {
            if (Boolean.TRUE.equals(gpu.mig())) {
                continue;
            }
            if (gpu.index() != null) {
                indexes.put(gpu.uuid(), Math.toIntExact(gpu.index()));
            }
            var empty =
                    new io.gpusharing.placement.Gpu(
                            gpu.uuid(), CORES, requireNonNullElse(gpu.memoryMiB(), 0L));
            (gpu.health().equals("Healthy") ? usable : unhealthy).add(empty);
            for (Grant grant : gpu.grants() == null ? List.<Grant>of() : gpu.grants()) {
                granted.computeIfAbsent(grant.podUid(), uid -> new ArrayList<>())
                        .add(placement(gpu, grant));
            }
        }
        Map<String, List<GpuHold>> held = new HashMap<>();
        granted.forEach((uid, containers) -> held.put(uid, PodPlacement.held(containers)));
        return new SharedNode(
                getMetadata().getName(),
                usable,
                unhealthy,
                held,
                indexes,
                model(),
                getStatus() != null && COOPERATIVE.equals(getStatus().tier()),
                refusedForGood());
    }

    /**
     * UIDs of pods that are given nothing here any more. Where a container had been let start
     * before, or was after all, the pod may have GPUs although no grant is left of it.
     */
    private Set<String> refusedForGood() {
        return getStatus() == null || getStatus().refused() == null
                ? Set.of()
                : getStatus().refused().stream()
                        .filter(it -> it.isFinal() && !it.ran() && it.until() == null)
                        .map(Refused::podUid)
                        .collect(toUnmodifiableSet());
    }

    private String model() {
        return offered().stream().map(Gpu::model).filter(Objects::nonNull).findFirst().orElse("");
    }

    private List<Gpu> offered() {
        Status status = getStatus();
        boolean withdrawn =
                status == null || (status.resources() != null && status.resources().isEmpty());
        return withdrawn || status.gpus() == null ? List.of() : status.gpus();
    }

    /** A container on two GPUs is two here, and holds the same. */
    private static ContainerPlacement placement(Gpu gpu, Grant grant) {
        return new ContainerPlacement(
                grant.container(),
                requireNonNullElse(grant.kind(), ContainerRequest.Kind.App),
                List.of(
                        new GpuHold(
                                gpu.uuid(),
                                requireNonNullElse(grant.core(), 0L),
                                requireNonNullElse(grant.memoryMiB(), 0L),
                                gpu.mode().equals("Whole"),
                                Sharing.inDomain(grant.domain()))));
    }
}

package io.gpusharing.scheduler.cluster;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.placement.ContainerPlacement;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.scheduler.gpus.SharedNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A {@code GpuNode} as its device plugin writes it; of its status only what placing needs. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuNode")
@Plural("gpunodes")
public class GpuNode extends CustomResource<Void, GpuNode.Status> {

    private static final long CORES = 100;

    /** All GPUs of the node. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Status(@Nullable List<Gpu> gpus) {}

    /**
     * One GPU.
     *
     * @param mig whether it is split, and its parts are another plugin's
     * @param health {@code Healthy} while containers may start on it
     * @param mode {@code Whole} while one container has all of it
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Gpu(
            String uuid,
            long memoryMiB,
            boolean mig,
            String health,
            String mode,
            @Nullable List<Grant> grants) {}

    /** What a container was given of it. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Grant(
            String podUid,
            String container,
            ContainerRequest.Kind kind,
            long core,
            long memoryMiB) {}

    /** The same as placing sees it. */
    SharedNode shared() {
        var usable = new ArrayList<io.gpusharing.placement.Gpu>();
        var unhealthy = new ArrayList<io.gpusharing.placement.Gpu>();
        var granted = new HashMap<String, List<ContainerPlacement>>();
        List<Gpu> gpus = getStatus() == null ? null : getStatus().gpus();
        for (Gpu gpu : gpus == null ? List.<Gpu>of() : gpus) {
            if (gpu.mig()) {
                continue;
            }
            var empty = new io.gpusharing.placement.Gpu(gpu.uuid(), CORES, gpu.memoryMiB());
            (gpu.health().equals("Healthy") ? usable : unhealthy).add(empty);
            for (Grant grant : gpu.grants() == null ? List.<Grant>of() : gpu.grants()) {
                granted.computeIfAbsent(grant.podUid(), uid -> new ArrayList<>())
                        .add(placement(gpu, grant));
            }
        }
        Map<String, List<GpuHold>> held = new HashMap<>();
        granted.forEach((uid, containers) -> held.put(uid, PodPlacement.held(containers)));
        return new SharedNode(getMetadata().getName(), usable, unhealthy, held);
    }

    /** A container on two GPUs is two here, and holds the same. */
    private static ContainerPlacement placement(Gpu gpu, Grant grant) {
        return new ContainerPlacement(
                grant.container(),
                grant.kind(),
                List.of(
                        new GpuHold(
                                gpu.uuid(),
                                grant.core(),
                                grant.memoryMiB(),
                                gpu.mode().equals("Whole"))));
    }
}

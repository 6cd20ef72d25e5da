package io.gpusharing.timekeeper.allocation.claim;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.claim.ClaimProperties.GpuDriver;
import java.math.BigDecimal;
import java.util.List;

/**
 * Devices that pods ask for as extended resources: the scheduler makes a claim of it (Kubernetes,
 * DRAExtendedResource).
 */
final class ExtendedResources {

    /** No pod holds more; whatever it writes, it is counted. */
    private static final BigDecimal MAX_COUNT = BigDecimal.valueOf(1_000);

    private final List<GpuDriver> drivers;
    private final RequestGrammars grammars;

    ExtendedResources(List<GpuDriver> drivers, RequestGrammars grammars) {
        this.drivers = List.copyOf(drivers);
        this.grammars = grammars;
    }

    /** How many GPUs a pod asks for that no grammar counts. */
    long asked(Pod pod) {
        return ResourceReader.request(pod.getSpec(), this::isGpu)
                .effective(ExtendedResources::asked, 0L, Long::sum, Math::max);
    }

    /** Kubernetes takes whole numbers only, in any of its forms. */
    private static long asked(ContainerRequest container) {
        return container.limits().values().stream()
                .mapToLong(it -> it.value().min(MAX_COUNT).longValue())
                .sum();
    }

    private boolean isGpu(String resource) {
        return !grammars.reads(resource)
                && drivers.stream()
                        .anyMatch(driver ->
                                driver.extendedResources().contains(resource)
                                        || (resource.startsWith(Names.DEVICE_CLASS_RESOURCE_PREFIX)
                                                && driver.deviceClasses()
                                                        .contains(
                                                                resource.substring(
                                                                        Names
                                                                                .DEVICE_CLASS_RESOURCE_PREFIX
                                                                                .length()))));
    }
}

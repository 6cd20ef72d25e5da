package io.gpusharing.timekeeper.allocation.claim;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.request.RequestGrammars;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Devices that pods ask for as extended resources: the scheduler makes a claim of it (Kubernetes,
 * DRAExtendedResource).
 */
final class ExtendedResources {

    /** Before the name of a device class: so every class can be asked for. */
    private static final String BY_CLASS = "deviceclass.resource.kubernetes.io/";

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
        long together = pod.getSpec().getContainers().stream().mapToLong(this::asked).sum();
        long before =
                pod.getSpec().getInitContainers().stream().mapToLong(this::asked).max().orElse(0);
        return Math.max(together, before);
    }

    private long asked(Container container) {
        return Stream.ofNullable(container.getResources())
                .flatMap(it -> Stream.ofNullable(it.getLimits()))
                .map(Map::entrySet)
                .flatMap(Set::stream)
                .filter(it -> isGpu(it.getKey()))
                .mapToLong(it -> amount(it.getValue()))
                .sum();
    }

    private boolean isGpu(String resource) {
        return !grammars.reads(resource)
                && drivers.stream()
                        .anyMatch(driver ->
                                driver.extendedResources().contains(resource)
                                        || (resource.startsWith(BY_CLASS)
                                                && driver.deviceClasses()
                                                        .contains(
                                                                resource.substring(
                                                                        BY_CLASS.length()))));
    }

    /** Kubernetes takes whole numbers only, in any of its forms. */
    private static long amount(Quantity written) {
        return AllocatedDevices.amount(written)
                .map(it -> it.value().min(MAX_COUNT).longValue())
                .orElse(0L);
    }
}

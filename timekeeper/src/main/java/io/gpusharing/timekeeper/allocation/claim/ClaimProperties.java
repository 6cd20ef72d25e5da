package io.gpusharing.timekeeper.allocation.claim;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which claims are claims for GPUs.
 *
 * @param drivers whose devices are GPUs; with none, nobody is charged by claims and the API server
 *     is never asked for one
 */
@ConfigurationProperties("gpusharing.claims")
record ClaimProperties(@DefaultValue List<GpuDriver> drivers) {

    /**
     * A driver of Dynamic Resource Allocation whose devices are GPUs.
     *
     * @param name as ResourceSlices and allocations name it: {@code gpu.example.com}
     * @param deviceClasses the classes by which claims ask for its devices; needed only where an
     *     allocation is gone before we have read it
     * @param extendedResources by which pods may ask for them instead, beside the names that
     *     Kubernetes makes of the classes
     * @param computeCapacity the capacity of its devices that means their processors; null if none
     *     does
     * @param memoryCapacity the capacity that means their memory; null if none does
     */
    record GpuDriver(
            String name,
            @DefaultValue List<String> deviceClasses,
            @DefaultValue List<String> extendedResources,
            @Nullable String computeCapacity,
            @Nullable String memoryCapacity) {}
}

package io.gpusharing.timekeeper.allocation.claim;

import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.Part;
import io.gpusharing.request.Quantity;
import io.gpusharing.timekeeper.allocation.claim.ClaimProperties.GpuDriver;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How much GPU an allocation is.
 *
 * <p>Consumed is not what was asked: a driver rounds a request up to its steps, and fills in what
 * was left out. A device that is allocated whole has no consumed capacity. Who looks at devices as
 * an administrator ({@code adminAccess}) uses nothing up, whatever capacity is noted.
 */
final class AllocatedDevices {

    /** No claim is allocated more devices (Kubernetes, AllocationResultsMaxSize). */
    private static final int MAX_DEVICES = 32;

    private final List<GpuDriver> drivers;

    AllocatedDevices(List<GpuDriver> drivers) {
        this.drivers = List.copyOf(drivers);
    }

    /** Whether a pod may use what was allocated to the claim. */
    static boolean isReservedFor(ResourceClaim claim, String podUid) {
        return allocation(claim).isPresent()
                && claim.getStatus().getReservedFor().stream()
                        .anyMatch(consumer -> podUid.equals(consumer.getUid()));
    }

    /**
     * What was allocated to a claim, exactly where the capacities of each device are known.
     *
     * @param counted whether a request of the claim, by its name, is counted already
     * @param capacities of a device, by name; empty if nobody knows the device
     */
    BoundShare share(
            ResourceClaim claim,
            Predicate<String> counted,
            Function<DeviceRequestAllocationResult, Optional<Map<String, Quantity>>> capacities) {
        return allocation(claim).stream()
                .flatMap(it -> it.getDevices().getResults().stream())
                .filter(result -> !Boolean.TRUE.equals(result.getAdminAccess()))
                .filter(result -> !counted.test(result.getRequest()))
                .map(result -> share(result, capacities))
                .reduce(BoundShare.NONE, BoundShare::plus);
    }

    /**
     * How many GPUs a claim asks for, if that is all that is left of it. The largest of
     * alternatives counts.
     */
    long asked(DeviceClaim claim) {
        // Written as null where there are none.
        return Stream.ofNullable(claim.getRequests())
                .flatMap(List::stream)
                .mapToLong(this::asked)
                .sum();
    }

    private long asked(DeviceRequest request) {
        ExactDeviceRequest exactly = request.getExactly();
        if (exactly != null) {
            return Boolean.TRUE.equals(exactly.getAdminAccess())
                    ? 0
                    : count(
                            exactly.getDeviceClassName(),
                            exactly.getAllocationMode(),
                            exactly.getCount());
        }
        return request.getFirstAvailable().stream()
                .mapToLong(
                        it -> count(it.getDeviceClassName(), it.getAllocationMode(), it.getCount()))
                .max()
                .orElse(0);
    }

    private long count(String deviceClass, @Nullable String mode, @Nullable Long count) {
        if (drivers.stream().noneMatch(driver -> driver.deviceClasses().contains(deviceClass))) {
            return 0;
        }
        return "All".equals(mode)
                ? MAX_DEVICES
                : Math.min(Objects.requireNonNullElse(count, 1L), MAX_DEVICES);
    }

    /** Of a claim's allocation: it may be allocated again, and its name may be another's later. */
    static UUID id(ResourceClaim claim) {
        var of = new StringBuilder(claim.getMetadata().getUid());
        allocation(claim)
                .ifPresent(it -> {
                    of.append('\n').append(it.getAllocationTimestamp());
                    it.getDevices()
                            .getResults()
                            .forEach(result ->
                                    of.append('\n')
                                            .append(result.getDriver())
                                            .append('/')
                                            .append(result.getPool())
                                            .append('/')
                                            .append(result.getDevice())
                                            .append('/')
                                            .append(result.getShareID()));
                });
        return UUID.nameUUIDFromBytes(of.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static Optional<AllocationResult> allocation(ResourceClaim claim) {
        return claim.getStatus() == null || claim.getStatus().getAllocation() == null
                ? Optional.empty()
                : Optional.of(claim.getStatus().getAllocation())
                        .filter(allocation -> allocation.getDevices() != null);
    }

    private BoundShare share(
            DeviceRequestAllocationResult result,
            Function<DeviceRequestAllocationResult, Optional<Map<String, Quantity>>> capacities) {
        return drivers.stream()
                .filter(driver -> driver.name().equals(result.getDriver()))
                .findFirst()
                .map(driver ->
                        result.getConsumedCapacity() == null
                                        || result.getConsumedCapacity().isEmpty()
                                ? BoundShare.exact(GpuShare.whole(1))
                                : share(driver, result, capacities.apply(result)))
                .orElse(BoundShare.NONE);
    }

    private static BoundShare share(
            GpuDriver driver,
            DeviceRequestAllocationResult result,
            Optional<Map<String, Quantity>> capacities) {
        if (capacities.isEmpty()) {
            // Its slice is gone: a whole GPU is the most that it can be.
            return new BoundShare(GpuShare.whole(1), false);
        }
        Part compute = part(driver.computeCapacity(), result, capacities.get());
        Part memory = part(driver.memoryCapacity(), result, capacities.get());
        // What a driver does not count apart goes by what it counts; with neither, all is held.
        Part other =
                Stream.of(compute, memory).filter(Objects::nonNull).findFirst().orElse(Part.ONE);
        return BoundShare.exact(
                new GpuShare(
                        Objects.requireNonNullElse(compute, other),
                        Objects.requireNonNullElse(memory, other)));
    }

    /** Null if the driver has no such capacity, or did not say how much of it is used. */
    private static @Nullable Part part(
            @Nullable String name,
            DeviceRequestAllocationResult result,
            Map<String, Quantity> capacities) {
        Quantity capacity = name == null ? null : capacities.get(name);
        Quantity consumed =
                name == null ? null : amount(result.getConsumedCapacity().get(name)).orElse(null);
        return capacity == null || consumed == null ? null : Part.of(consumed, capacity);
    }

    /**
     * Empty if there is none, or it is nothing. Where a driver sets no bounds Kubernetes takes over
     * whatever a claim asks for, and more than a device has is all of it.
     */
    static Optional<Quantity> amount(io.fabric8.kubernetes.api.model.@Nullable Quantity written) {
        try {
            return Optional.ofNullable(written)
                    .map(ResourceReader::amount)
                    .filter(it -> it.value().signum() > 0);
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}

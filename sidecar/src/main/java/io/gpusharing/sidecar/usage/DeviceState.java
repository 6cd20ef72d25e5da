package io.gpusharing.sidecar.usage;

/**
 * A device as a whole.
 *
 * @param name the product's name
 * @param busyPercent of the last ten ticks
 * @param memoryUsedBytes of all processes and the driver
 */
public record DeviceState(
        String uuid, String name, Basis basis, long busyPercent, long memoryUsedBytes) {}

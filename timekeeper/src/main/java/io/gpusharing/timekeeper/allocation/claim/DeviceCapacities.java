package io.gpusharing.timekeeper.allocation.claim;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.Quantity;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The capacities of devices, as their drivers publish them in ResourceSlices. */
final class DeviceCapacities {

    private static final int MAX_DEVICES = 100_000;
    private static final Duration DEVICES_KEPT = Duration.ofMinutes(10);
    private static final Duration ASKED_AGAIN = Duration.ofSeconds(10);

    private record DeviceKey(String driver, String pool, String device) {}

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;

    private final Cache<DeviceKey, Map<String, Quantity>> capacities =
            Caffeine.newBuilder().maximumSize(MAX_DEVICES).expireAfterWrite(DEVICES_KEPT).build();

    /** Asked for in vain, a moment ago: their driver may just be restarting. */
    private final Cache<DeviceKey, Boolean> unknown =
            Caffeine.newBuilder().maximumSize(MAX_DEVICES).expireAfterWrite(ASKED_AGAIN).build();

    DeviceCapacities(KubernetesClient client, UnreadableObjects unreadable) {
        this.client = client;
        this.unreadable = unreadable;
    }

    /**
     * The capacities of an allocated device, by name; empty if nobody publishes them.
     *
     * @param node whose device it may be
     */
    Optional<Map<String, Quantity>> of(DeviceRequestAllocationResult result, String node) {
        var key = new DeviceKey(result.getDriver(), result.getPool(), result.getDevice());
        if (capacities.getIfPresent(key) == null && unknown.getIfPresent(key) == null) {
            learn("spec.nodeName", node);
            if (capacities.getIfPresent(key) == null) {
                // A device that is no node's own.
                learn("spec.driver", result.getDriver());
            }
            if (capacities.getIfPresent(key) == null) {
                unknown.put(key, true);
            }
        }
        return Optional.ofNullable(capacities.getIfPresent(key));
    }

    /** The devices of a slice that cannot be read are unknown, and those of all others known. */
    private void learn(String field, String value) {
        client.resources(ResourceSlice.class)
                .withField(field, value)
                .list()
                .getItems()
                .forEach(slice -> unreadable.handOver(slice, it -> learn(it.getSpec())));
    }

    private void learn(ResourceSliceSpec slice) {
        slice.getDevices()
                .forEach(device ->
                        capacities.put(
                                new DeviceKey(
                                        slice.getDriver(),
                                        slice.getPool().getName(),
                                        device.getName()),
                                capacities(device)));
    }

    private static Map<String, Quantity> capacities(Device device) {
        var amounts = new HashMap<String, Quantity>();
        device.getCapacity()
                .forEach((name, capacity) ->
                        AllocatedDevices.amount(capacity.getValue())
                                .ifPresent(amount -> amounts.put(name, amount)));
        return amounts;
    }
}

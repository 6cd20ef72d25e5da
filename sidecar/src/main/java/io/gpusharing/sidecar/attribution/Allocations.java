package io.gpusharing.sidecar.attribution;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which pod kubelet gave which GPU.
 *
 * @param weights how many units of GPU resources a pod holds, by its UID
 * @param byDevice the pods that were given a device, by its UUID
 * @param alone the pod that was given a device whole, by its UUID
 */
public record Allocations(
        Map<String, Long> weights, Map<String, List<String>> byDevice, Map<String, String> alone) {

    /** Unknown. */
    public static final Allocations NONE = new Allocations(Map.of(), Map.of(), Map.of());

    /**
     * One grant of kubelet.
     *
     * @param deviceIds as the device plugin spells them
     */
    public record Grant(String podUid, String resource, List<String> deviceIds) {}

    /** Sums up the grants; those of other resources than GPUs are left out. */
    public static Allocations of(List<Grant> grants) {
        Map<String, Long> weights = new HashMap<>();
        Map<String, List<String>> byDevice = new HashMap<>();
        Map<String, String> alone = new HashMap<>();
        Set<String> contested = new HashSet<>();
        for (Grant grant : grants) {
            if (!isGpu(grant.resource())) {
                continue;
            }
            weights.merge(grant.podUid(), (long) grant.deviceIds().size(), Long::sum);
            for (String id : grant.deviceIds()) {
                DeviceId device = DeviceId.parse(id);
                if (device.uuid().isEmpty()) {
                    continue;
                }
                List<String> pods =
                        byDevice.computeIfAbsent(device.uuid(), uuid -> new ArrayList<>());
                if (!pods.contains(grant.podUid())) {
                    pods.add(grant.podUid());
                }
                if (!device.whole() || pods.size() > 1) {
                    contested.add(device.uuid());
                }
                alone.put(device.uuid(), grant.podUid());
            }
        }
        alone.keySet().removeAll(contested);
        return new Allocations(weights, byDevice, alone);
    }

    private static boolean isGpu(String resource) {
        return resource.startsWith("nvidia.com/")
                || resource.equals("tencent.com/vcuda-core")
                || resource.equals("cnvrg.io/metagpu")
                || resource.equals("aliyun.com/gpu-mem");
    }

    /** Whether the pod was given any GPU. */
    public boolean asked(String podUid) {
        return weights.containsKey(podUid);
    }

    @Nullable String soleOwner(String uuid) {
        return alone.get(uuid);
    }

    List<String> pods(String uuid) {
        return byDevice.getOrDefault(uuid, List.of());
    }

    long weight(String podUid) {
        return Math.max(1, weights.getOrDefault(podUid, 1L));
    }
}

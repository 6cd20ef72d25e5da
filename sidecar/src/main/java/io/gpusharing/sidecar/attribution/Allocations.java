package io.gpusharing.sidecar.attribution;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who was given which GPU of a node.
 *
 * @param units how many units of GPU resources the kubelet gave a pod, by its UID; of which GPU
 *     they are it does not know
 * @param devices what is known by device, by its UUID
 * @param exact whether who is not among a device's pods was not given it; else a pod that was given
 *     anything may have been given any device
 */
record Allocations(Map<String, Long> units, Map<String, Device> devices, boolean exact) {

    private static final long BYTES_PER_MIB = 1 << 20;

    /** Unknown. */
    static final Allocations NONE = new Allocations(Map.of(), Map.of(), false);

    /**
     * One line of the kubelet's table.
     *
     * @param deviceIds as the device plugin spells them
     */
    record Entry(String podUid, String resource, List<String> deviceIds) {}

    /**
     * One GPU.
     *
     * @param weights the pods that were given it, by UID, each with its weight beside the others
     * @param alone the pod that was given it whole, or null
     * @param memory bytes that pods were given of it, by UID; who has it whole or was given no
     *     memory in particular is left out
     */
    record Device(Map<String, Long> weights, @Nullable String alone, Map<String, Long> memory) {

        private static Device of(
                Map<String, Long> weights, boolean whole, Map<String, Long> memory) {
            boolean alone = whole && weights.size() == 1;
            return new Device(weights, alone ? weights.keySet().iterator().next() : null, memory);
        }

        /** Who asked for memory alone holds no processors; then memory is what can be compared. */
        private static Device granted(
                Map<String, GrantedPod.Hold> holds, Map<String, Long> memory) {
            boolean byMemory = holds.values().stream().anyMatch(hold -> hold.cores() == 0);
            Map<String, Long> weights = new LinkedHashMap<>();
            holds.forEach((pod, hold) -> weights.put(pod, byMemory ? hold.memory() : hold.cores()));
            return of(weights, holds.values().stream().allMatch(GrantedPod.Hold::whole), memory);
        }
    }

    /** Sums up the kubelet's table, as far as it is of GPUs. */
    static Allocations of(List<Entry> table) {
        Map<String, Long> units = new HashMap<>();
        Map<String, Map<String, Long>> weights = new HashMap<>();
        Set<String> inParts = new HashSet<>();
        for (Entry entry : table) {
            units.merge(entry.podUid(), (long) entry.deviceIds().size(), Long::sum);
            for (String id : entry.deviceIds()) {
                DeviceId device = DeviceId.parse(id);
                if (device.uuid().isEmpty()) {
                    continue;
                }
                weights.computeIfAbsent(device.uuid(), uuid -> new LinkedHashMap<>())
                        .merge(entry.podUid(), 1L, Long::sum);
                if (!device.whole()) {
                    inParts.add(device.uuid());
                }
            }
        }
        Map<String, Device> devices = new HashMap<>();
        weights.forEach((uuid, pods) ->
                devices.put(uuid, Device.of(pods, !inParts.contains(uuid), Map.of())));
        return new Allocations(units, devices, false);
    }

    /**
     * The same with the grants of our device plugin, which say for each GPU they name who has it. A
     * GPU that they do not name may be another plugin's, for instance a MIG instance; it is theirs
     * to whom the kubelet gave that very device.
     *
     * <p>Without any pod they say nothing: a plugin that was taken off the node leaves its file
     * behind, and is taken off after its pods have ended.
     */
    Allocations with(List<GrantedPod> grants) {
        if (grants.isEmpty()) {
            return this;
        }
        Map<String, Map<String, GrantedPod.Hold>> held = new HashMap<>();
        Map<String, Map<String, Long>> memory = new HashMap<>();
        for (GrantedPod pod : grants) {
            pod.held()
                    .forEach((uuid, hold) -> {
                        held.computeIfAbsent(uuid, gpu -> new LinkedHashMap<>())
                                .put(pod.uid(), hold);
                        if (!hold.whole() && !pod.takesAnyMemory(uuid)) {
                            memory.computeIfAbsent(uuid, gpu -> new HashMap<>())
                                    .put(pod.uid(), hold.memory() * BYTES_PER_MIB);
                        }
                    });
        }
        Map<String, Device> all = new HashMap<>(devices);
        held.forEach((uuid, holds) ->
                all.put(uuid, Device.granted(holds, memory.getOrDefault(uuid, Map.of()))));
        return new Allocations(units, all, true);
    }

    /** Whether the pod was given the device; where no device is known by name, any at all. */
    boolean asked(String podUid, String uuid) {
        return exact ? given(podUid, uuid) != null : units.containsKey(podUid);
    }

    @Nullable String soleOwner(String uuid) {
        Device device = devices.get(uuid);
        return device == null ? null : device.alone();
    }

    List<String> pods(String uuid) {
        Device device = devices.get(uuid);
        return device == null ? List.of() : List.copyOf(device.weights().keySet());
    }

    /** The pod's weight on the device beside the others, at least 1. */
    long weight(String podUid, String uuid) {
        Long weight = exact ? given(podUid, uuid) : units.get(podUid);
        return weight == null ? 1 : Math.max(1, weight);
    }

    /** Bytes of the device that the pod was given; 0 where that is unknown, or all. */
    long memory(String podUid, String uuid) {
        Device device = devices.get(uuid);
        return device == null ? 0 : device.memory().getOrDefault(podUid, 0L);
    }

    private @Nullable Long given(String podUid, String uuid) {
        Device device = devices.get(uuid);
        return device == null ? null : device.weights().get(podUid);
    }
}

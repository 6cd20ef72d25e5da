package io.gpusharing.sidecar.attribution;

/**
 * A device as a device plugin names it to kubelet. Spellings: {@code GPU-…} and {@code MIG-…} of
 * NVIDIA's plugin, with {@code ::n} for the n-th replica of a shared one; {@code MIG-GPU-…/gi/ci}
 * before R470; {@code nvidia0/gi3/vgpu1} on GKE; {@code tencent.com/vcuda-core-7} of gpu-manager,
 * where a device is one hundredth of some GPU.
 *
 * @param uuid NVML's name of the device; empty where the id does not contain it
 * @param whole whether who holds this id holds the device alone
 */
public record DeviceId(String uuid, boolean whole) {

    /** Reads an id; one that no plugin we know writes is read as unknown. */
    public static DeviceId parse(String id) {
        if (!id.startsWith("GPU-") && !id.startsWith("MIG-")) {
            return new DeviceId("", false);
        }
        int replica = id.indexOf("::");
        return replica < 0 ? new DeviceId(id, true) : new DeviceId(id.substring(0, replica), false);
    }
}

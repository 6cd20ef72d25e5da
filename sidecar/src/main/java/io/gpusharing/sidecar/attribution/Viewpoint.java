package io.gpusharing.sidecar.attribution;

import io.gpusharing.nvml.DriverVersion;
import io.gpusharing.nvml.ProcessList;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.Usage;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** From where the meter looks: inside one pod, or from the node at all of them. */
public sealed interface Viewpoint permits PodView, NodeView {

    /** The pod that is metered whether it has a process or not; null where pods come and go. */
    @Nullable String resident();

    /** A fresh list of a device's processes has been read. */
    void listed(String uuid, ProcessList list, long nowMicros);

    /**
     * Why pids of samples cannot be assigned to pods from here; null where they can.
     *
     * @param everJoined whether a sample's pid was ever found in the device's list
     */
    @Nullable String refusesProcess(Optional<DriverVersion> driver, boolean everJoined);

    /** Whether a list without entries proves that no process of a metered pod is on the device. */
    boolean listIsWhole(Optional<DriverVersion> driver);

    /** Whether a pid can be judged without reading the device's list again. */
    boolean knows(long pid, ProcessList list, long nowMicros);

    /** The owner of a process, or null where it is no pod's that counts here. */
    @Nullable Owner owner(long pid, ProcessList list, long nowMicros);

    /** Whether nothing could be learned of a process, for instance because it has ended. */
    boolean vanished(long pid, long nowMicros);

    /**
     * Whether a process serves a device's MPS: it computes for its clients, and nothing of that is
     * its own pod's.
     */
    boolean servesMps(long pid, Owner owner, String uuid, ProcessList list, long nowMicros);

    /** The kernel's name of a process; empty where it is not known or not told. */
    String command(long pid);

    /** The pods that were given a device, whether they use it or not. */
    List<String> allocated(String uuid);

    /** A pod's names, or null where they are not known. */
    @Nullable PodName name(String podUid, long nowMicros);

    /** When a pod was last known to live: now if it does, and so its time goes on. */
    long livedUntil(String podUid, long lastPresentMicros, long nowMicros);

    /**
     * The pod that holds a device alone.
     *
     * @param visibleDevices how many devices the meter sees
     * @return null where several may share it, or where that is unknown
     */
    @Nullable String soleOwner(String uuid, int visibleDevices);

    /** Why a device's busy time cannot be split among its pods; null where it can. */
    @Nullable String refusesSplit();

    /** Whether busy time that is no pod's is worth counting here. */
    boolean countsUnattributed();

    /** Whether a pod is known to have been given a device. */
    boolean given(String podUid, String uuid);

    /** Whether a pod may use a device: it was given it, or that is unknown. */
    boolean asked(String podUid, String uuid);

    /**
     * Names a pod that uses a device that it was not given.
     *
     * @param uses all of the pod's
     * @return null where all were given, or the pod's names are not known
     */
    Usage.@Nullable Unasked unasked(String podUid, List<DeviceUse> uses);

    /**
     * How much memory of a device a pod was given, in bytes; 0 where it was given none in
     * particular, as with whole GPUs, or where that is unknown.
     */
    long memoryGranted(String podUid, String uuid);

    /**
     * Names a pod that holds more memory than it was given; empty where its names are not known.
     */
    List<Usage.MemoryExceeded> exceeded(String podUid, List<DeviceUse> uses);

    /** A pod's weight on a device when busy time is split, at least 1. */
    long weight(String podUid, String uuid);
}

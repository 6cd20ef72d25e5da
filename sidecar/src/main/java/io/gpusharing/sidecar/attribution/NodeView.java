package io.gpusharing.sidecar.attribution;

import io.gpusharing.nvml.DriverVersion;
import io.gpusharing.nvml.ProcessList;
import io.gpusharing.sidecar.usage.Usage;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The node, from its first process namespace: every driver names processes there by the pids that
 * {@code /proc} has, and their control groups name the pod.
 */
public final class NodeView implements Viewpoint {

    /** Rows of an ended process come back for as long as the ring is; its owner is kept longer. */
    private static final long KEEP_MICROS = 60_000_000;

    private static final long REFRESH_EVERY_MICROS = 9_000_000;

    private static final Owner NOBODY = new Owner("", "");

    private final ProcFs proc;
    private final KubeletFiles kubelet;
    private final PidMap<Known> known = new PidMap<>(KEEP_MICROS);
    private int listsOfStrangers;
    private long refreshedMicros = Long.MIN_VALUE / 2;

    /** A process that was looked up. */
    private static final class Known {
        final String startTime;
        final Owner owner;
        long checkedMicros;

        Known(String startTime, Owner owner, long nowMicros) {
            this.startTime = startTime;
            this.owner = owner;
            this.checkedMicros = nowMicros;
        }
    }

    /**
     * @param proc {@code /proc} of the machine's first process namespace
     * @param kubelet what kubelet left on disk
     */
    public NodeView(ProcFs proc, KubeletFiles kubelet) {
        this.proc = proc;
        this.kubelet = kubelet;
        kubelet.refresh();
    }

    @Override
    public @Nullable String resident() {
        return null;
    }

    @Override
    public void listed(String uuid, ProcessList list, long nowMicros) {
        if (nowMicros - refreshedMicros >= REFRESH_EVERY_MICROS) {
            refreshedMicros = nowMicros;
            kubelet.refresh();
        }
        int strangers = 0;
        for (int i = 0; i < list.count; i++) {
            boolean here = known.get(list.pid[i], nowMicros) != null || proc.exists(list.pid[i]);
            strangers += here ? 0 : 1;
        }
        boolean noneIsHere = strangers > 0 && strangers == list.count;
        listsOfStrangers = noneIsHere ? listsOfStrangers + 1 : 0;
    }

    @Override
    public @Nullable String refusesProcess(Optional<DriverVersion> driver, boolean everJoined) {
        return listsOfStrangers < 2
                ? null
                : "NVML's processes are not in this container's /proc: the agent needs hostPID";
    }

    @Override
    public boolean listIsWhole(Optional<DriverVersion> driver) {
        return true;
    }

    @Override
    public boolean knows(long pid, ProcessList list, long nowMicros) {
        return true;
    }

    @Override
    public @Nullable Owner owner(long pid, ProcessList list, long nowMicros) {
        Known process = known.get(pid, nowMicros);
        if (process == null || process.checkedMicros != nowMicros) {
            process = lookUp(pid, process, nowMicros);
        }
        if (process == null) {
            return null;
        }
        process.checkedMicros = nowMicros;
        known.touch(pid, nowMicros);
        return process.owner.podUid().isEmpty() ? null : process.owner;
    }

    /**
     * Pids are reused, within a second on a busy node: only together with its start time does one
     * name a process for good. A row is a process that was just caught, so few are asked for.
     */
    private @Nullable Known lookUp(long pid, @Nullable Known before, long nowMicros) {
        String startTime = proc.startTime(pid).orElse("");
        if (startTime.isEmpty()) {
            return before;
        }
        if (before != null && before.startTime.equals(startTime)) {
            return before;
        }
        CgroupPath path = proc.cgroup(pid).map(CgroupPath::parse).orElse(null);
        if (path == null) {
            return before;
        }
        Owner owner =
                path.podUid().isEmpty() ? NOBODY : new Owner(path.podUid(), path.containerId());
        Known now = new Known(startTime, owner, nowMicros);
        known.put(pid, now, nowMicros);
        return now;
    }

    @Override
    public boolean vanished(long pid, long nowMicros) {
        return known.get(pid, nowMicros) == null;
    }

    @Override
    public @Nullable String soleOwner(String uuid, int visibleDevices) {
        return kubelet.allocations().soleOwner(uuid);
    }

    @Override
    public List<String> allocated(String uuid) {
        return kubelet.allocations().pods(uuid);
    }

    @Override
    public boolean lives(String podUid, long lastPresentMicros, long nowMicros) {
        return kubelet.knowsPods()
                ? kubelet.name(podUid) != null
                : nowMicros - lastPresentMicros < KEEP_MICROS;
    }

    @Override
    public @Nullable String refusesSplit() {
        return null;
    }

    @Override
    public boolean countsUnattributed() {
        return true;
    }

    @Override
    public Usage.@Nullable Unasked unasked(String podUid) {
        KubeletFiles.PodName name = kubelet.name(podUid);
        return name == null || !kubelet.isReadable() || kubelet.allocations().asked(podUid)
                ? null
                : new Usage.Unasked(podUid, name.namespace(), name.pod());
    }

    @Override
    public long weight(String podUid, String uuid) {
        return kubelet.allocations().weight(podUid);
    }
}

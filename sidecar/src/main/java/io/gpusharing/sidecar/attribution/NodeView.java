package io.gpusharing.sidecar.attribution;

import io.gpusharing.nvml.DriverVersion;
import io.gpusharing.nvml.ProcessList;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
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

    private static final long NAMES_EVERY_MICROS = 9_000_000;
    private static final long NAMES_AT_MOST_EVERY_MICROS = 2_000_000;

    private static final Owner NOBODY = new Owner("", "");

    /** {@code nvidia-cuda-mps-server}, as the kernel cuts its name. */
    private static final String MPS_SERVER = "nvidia-cuda-mps";

    private final ProcFs proc;
    private final NodeFiles files;
    private final boolean tellsCommands;
    private final PidMap<Known> known = new PidMap<>(KEEP_MICROS);
    private final PodLives lives;
    private int listsOfStrangers;
    private long namedMicros = Long.MIN_VALUE / 2;

    /** A process that was looked up. */
    private static final class Known {
        final String startTime;
        final Owner owner;
        final boolean isNamedAsMpsServer;
        long checkedMicros;

        Known(String startTime, Owner owner, boolean isNamedAsMpsServer, long nowMicros) {
            this.startTime = startTime;
            this.owner = owner;
            this.isNamedAsMpsServer = isNamedAsMpsServer;
            this.checkedMicros = nowMicros;
        }
    }

    /**
     * @param proc {@code /proc} of the machine's first process namespace
     * @param files what stands on the node's disk about its pods
     * @param tellsCommands whether reports have the names of processes
     */
    public NodeView(ProcFs proc, NodeFiles files, boolean tellsCommands) {
        this.proc = proc;
        this.files = files;
        this.tellsCommands = tellsCommands;
        this.lives = new PodLives(proc);
        files.refresh();
        files.refreshNames();
    }

    @Override
    public @Nullable String resident() {
        return null;
    }

    @Override
    public void listed(String uuid, ProcessList list, long nowMicros) {
        // After each list: what a pod was given stood there before its process was listed.
        files.refresh();
        refreshNames(NAMES_EVERY_MICROS, nowMicros);
        int strangers = 0;
        for (int i = 0; i < list.count; i++) {
            boolean here = known.get(list.pid[i], nowMicros) != null || proc.exists(list.pid[i]);
            strangers += here ? 0 : 1;
        }
        boolean noneIsHere = strangers > 0 && strangers == list.count;
        listsOfStrangers = noneIsHere ? listsOfStrangers + 1 : 0;
    }

    private void refreshNames(long atMostEveryMicros, long nowMicros) {
        if (nowMicros - namedMicros >= atMostEveryMicros) {
            namedMicros = nowMicros;
            files.refreshNames();
        }
    }

    @Override
    public @Nullable PodName name(String podUid, long nowMicros) {
        PodName name = files.name(podUid);
        if (name == null) {
            refreshNames(NAMES_AT_MOST_EVERY_MICROS, nowMicros);
            name = files.name(podUid);
        }
        return name;
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
        Known now = new Known(startTime, owner, proc.command(pid).equals(MPS_SERVER), nowMicros);
        known.put(pid, now, nowMicros);
        return now;
    }

    @Override
    public boolean vanished(long pid, long nowMicros) {
        return known.get(pid, nowMicros) == null;
    }

    /**
     * The process's name alone proves nothing, since a tenant chooses it. The pod has to be the one
     * that runs our daemons; without a device plugin of ours NVML's word counts, which lists the
     * server beside its clients and not among them.
     */
    @Override
    public boolean servesMps(long pid, Owner owner, String uuid, ProcessList list, long nowMicros) {
        Known process = known.get(pid, nowMicros);
        return process != null
                && process.isNamedAsMpsServer
                && !given(owner.podUid(), uuid)
                && (files.runsMpsDaemons(owner.podUid())
                        || (!files.allocations().exact() && list.servesBesideClients(pid)));
    }

    @Override
    public @Nullable String soleOwner(String uuid, int visibleDevices) {
        return files.allocations().soleOwner(uuid);
    }

    @Override
    public String command(long pid) {
        return tellsCommands ? proc.command(pid) : "";
    }

    @Override
    public List<String> allocated(String uuid) {
        return files.allocations().pods(uuid);
    }

    @Override
    public long livedUntil(String podUid, long lastPresentMicros, long nowMicros) {
        long seen = lives.livedUntil(podUid, nowMicros);
        if (seen != PodLives.NEVER || lives.seesPods()) {
            return seen;
        }
        // Without hostPID no process tells it.
        boolean stays =
                files.knowsPods()
                        ? files.hasFolder(podUid)
                        : nowMicros - lastPresentMicros < KEEP_MICROS;
        return stays ? nowMicros : Math.min(lastPresentMicros, nowMicros - 1);
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
    public boolean given(String podUid, String uuid) {
        return files.knowsWhoAsked() && files.allocations().asked(podUid, uuid);
    }

    @Override
    public boolean asked(String podUid, String uuid) {
        return !files.knowsWhoAsked() || files.allocations().asked(podUid, uuid);
    }

    @Override
    public Usage.@Nullable Unasked unasked(String podUid, List<DeviceUse> uses) {
        List<String> devices =
                uses.stream().filter(DeviceUse::unasked).map(DeviceUse::uuid).toList();
        PodName name = devices.isEmpty() ? null : files.name(podUid);
        return name == null
                ? null
                : new Usage.Unasked(
                        podUid,
                        name.namespace(),
                        name.pod(),
                        files.allocations().exact() ? devices : List.of());
    }

    @Override
    public long memoryGranted(String podUid, String uuid) {
        return files.allocations().memory(podUid, uuid);
    }

    @Override
    public List<Usage.MemoryExceeded> exceeded(String podUid, List<DeviceUse> uses) {
        List<DeviceUse> exceeded = uses.stream().filter(it -> it.memory().exceeded()).toList();
        PodName name = exceeded.isEmpty() ? null : files.name(podUid);
        return name == null
                ? List.of()
                : exceeded.stream()
                        .map(use ->
                                new Usage.MemoryExceeded(
                                        podUid,
                                        name.namespace(),
                                        name.pod(),
                                        use.uuid(),
                                        use.memory().usedBytes(),
                                        use.memory().grantedBytes()))
                        .toList();
    }

    @Override
    public long weight(String podUid, String uuid) {
        return files.allocations().weight(podUid, uuid);
    }
}

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
 * Inside one pod. NVML shows which processes are this pod's only where the containers share a
 * process namespace and the driver speaks of it in lists and in samples alike.
 *
 * <p>Source: NVIDIA's open kernel modules, release by release. Up to 535.104 lists and samples hold
 * the host's pids; from 535.113.01 lists are translated into the caller's namespace and leave
 * others out; from 570.86.15 samples are translated too, but rows of processes that the caller
 * cannot see keep their host pid.
 */
public final class PodView implements Viewpoint {

    /** Rows of an ended process can come back for as long as the driver's ring is. */
    private static final long OWN_AFTER_END_MICROS = 20_000_000;

    private static final CgroupPath NOWHERE = new CgroupPath("", "");
    private static final long FOREIGN_FOR_MICROS = 60_000_000;

    private final String podUid;
    private final Owner self;
    private final GpuRequest request;
    private final ProcFs proc;
    private final boolean sharesNamespace;
    private final PidMap<Owner> own = new PidMap<>(OWN_AFTER_END_MICROS);
    private final PidMap<Owner> foreign = new PidMap<>(FOREIGN_FOR_MICROS);
    private int listsOfStrangers;

    /**
     * @param podUid the pod's UID, as the API server knows it
     * @param request what the pod asked for
     * @param proc this container's {@code /proc}
     */
    public PodView(String podUid, GpuRequest request, ProcFs proc) {
        this.podUid = podUid;
        this.self = new Owner(podUid, "");
        this.request = request;
        this.proc = proc;
        this.sharesNamespace = proc.sharesPodNamespace();
    }

    @Override
    public @Nullable String resident() {
        return podUid;
    }

    @Override
    public void listed(String uuid, ProcessList list, long nowMicros) {
        if (!sharesNamespace) {
            return;
        }
        int strangers = 0;
        for (int i = 0; i < list.count; i++) {
            long pid = list.pid[i];
            if (own.get(pid, nowMicros) != null) {
                own.touch(pid, nowMicros);
            } else if (proc.exists(pid)) {
                remember(pid, nowMicros);
            } else {
                strangers++;
            }
        }
        // One alone may just have ended; twice in a row nobody of the list is here: host pids.
        boolean noneIsHere = strangers > 0 && strangers == list.count;
        listsOfStrangers = noneIsHere ? listsOfStrangers + 1 : 0;
    }

    private void remember(long pid, long nowMicros) {
        // From inside, a control group names the container at best: the pod's slice lies above.
        String container = proc.cgroup(pid).map(CgroupPath::parse).orElse(NOWHERE).containerId();
        own.put(pid, new Owner(podUid, container), nowMicros);
    }

    @Override
    public @Nullable String refusesProcess(Optional<DriverVersion> driver, boolean everJoined) {
        if (!sharesNamespace) {
            return "the pod's containers do not share a process namespace, so NVML lists none of"
                    + " its processes here (shareProcessNamespace, or a node agent)";
        }
        if (driver.isEmpty()) {
            return everJoined
                    ? strangers()
                    : "the driver's version is unreadable and no sample was seen to belong to a"
                            + " listed process yet";
        }
        if (samplesAreTranslated(driver.get())) {
            return strangers();
        }
        return listsAreTranslated(driver.get())
                ? "the driver (535.113 to 569) names processes by host pid in its samples"
                : "the driver (before 535.113) names processes by host pid";
    }

    private @Nullable String strangers() {
        return listsOfStrangers < 2 ? null : "NVML lists processes that are not of this namespace";
    }

    @Override
    public boolean listIsWhole(Optional<DriverVersion> driver) {
        return sharesNamespace && driver.filter(PodView::listsAreTranslated).isPresent();
    }

    private static boolean samplesAreTranslated(DriverVersion driver) {
        return driver.atLeast(570, 86, 15);
    }

    private static boolean listsAreTranslated(DriverVersion driver) {
        // 535.43 is a developers' branch of its own, which translates from its 24th release on.
        boolean developers = driver.major() == 535 && driver.minor() == 43;
        return developers ? driver.patch() >= 24 : driver.atLeast(535, 113, 1);
    }

    @Override
    public boolean knows(long pid, ProcessList list, long nowMicros) {
        return list.contains(pid)
                || own.get(pid, nowMicros) != null
                || foreign.get(pid, nowMicros) != null;
    }

    @Override
    public @Nullable Owner owner(long pid, ProcessList list, long nowMicros) {
        Owner known = own.get(pid, nowMicros);
        if (known != null) {
            return known;
        }
        if (sharesNamespace && list.contains(pid)) {
            return self;
        }
        if (foreign.get(pid, nowMicros) == null) {
            foreign.put(pid, self, nowMicros);
        }
        return null;
    }

    @Override
    public boolean vanished(long pid, long nowMicros) {
        return true;
    }

    /** It runs in a pod of its own. */
    @Override
    public boolean servesMps(long pid, Owner owner, String uuid, ProcessList list, long nowMicros) {
        return false;
    }

    @Override
    public String command(long pid) {
        return "";
    }

    @Override
    public List<String> allocated(String uuid) {
        return List.of();
    }

    @Override
    public @Nullable PodName name(String pod, long nowMicros) {
        return null;
    }

    @Override
    public long livedUntil(String pod, long lastPresentMicros, long nowMicros) {
        return nowMicros;
    }

    @Override
    public @Nullable String soleOwner(String uuid, int visibleDevices) {
        // What is visible may be more than what was asked for; then nobody knows which is ours.
        return request.wholeGpus() > 0 && request.wholeGpus() == visibleDevices ? podUid : null;
    }

    @Override
    public String refusesSplit() {
        return "a sidecar does not see the other pods on the GPU";
    }

    @Override
    public boolean countsUnattributed() {
        return false;
    }

    @Override
    public boolean given(String pod, String uuid) {
        return false;
    }

    @Override
    public boolean asked(String pod, String uuid) {
        return true;
    }

    @Override
    public Usage.@Nullable Unasked unasked(String pod, List<DeviceUse> uses) {
        return null;
    }

    /** A sidecar does not see what the device plugin gave. */
    @Override
    public long memoryGranted(String pod, String uuid) {
        return 0;
    }

    @Override
    public List<Usage.MemoryExceeded> exceeded(String pod, List<DeviceUse> uses) {
        return List.of();
    }

    @Override
    public long weight(String pod, String uuid) {
        return 1;
    }
}

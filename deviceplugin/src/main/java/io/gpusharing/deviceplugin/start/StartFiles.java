package io.gpusharing.deviceplugin.start;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.cdi.CdiFolder;
import io.gpusharing.deviceplugin.cdi.DriverFolders;
import io.gpusharing.deviceplugin.cdi.Interceptor;
import io.gpusharing.deviceplugin.cdi.Mgctl;
import io.gpusharing.deviceplugin.cluster.GpuNodeStatus;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.deviceplugin.mps.Mps;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The CDI files of containers that are about to start; each is there as long as that takes. */
final class StartFiles {

    /** A container that does not run by then has failed, and is prepared again. */
    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    private final CdiFolder folder;
    private final DriverFolders driver;
    private final Optional<Interceptor> interceptor;
    private final Optional<Mgctl> mgctl;
    private final Mps mps;
    private final InstantSource clock;
    private final Map<CdiDevice, Start> starting = new HashMap<>();

    /** UIDs of pods, as often as a container of theirs is being prepared; guarded as the others. */
    private final List<String> preparing = new ArrayList<>();

    /**
     * A container that is about to start.
     *
     * @param before the ID of its instance that ran before; the API server may say for a while that
     *     it runs still
     * @param asked when the kubelet asked for it
     */
    private record Start(
            String podUid,
            String container,
            @Nullable String before,
            Instant asked,
            Instant until) {

        /** Both may be the container that the kubelet asked for: it starts one of them. */
        boolean isAlternativeTo(Start other) {
            return podUid.equals(other.podUid) && asked.equals(other.asked);
        }
    }

    /**
     * @param driver how containers get at GPUs on this node
     * @param mgctl for those whose authors know it
     */
    StartFiles(
            CdiFolder folder,
            DriverFolders driver,
            Optional<Interceptor> interceptor,
            Optional<Mgctl> mgctl,
            Mps mps,
            InstantSource clock) {
        this.folder = folder;
        this.driver = driver;
        this.interceptor = interceptor;
        this.mgctl = mgctl;
        this.mps = mps;
        this.clock = clock;
    }

    /** From now on a container of this pod may be starting. */
    void begin(String podUid) {
        synchronized (starting) {
            preparing.add(podUid);
        }
    }

    /** Its files are written, or it was refused. */
    void begun(String podUid) {
        synchronized (starting) {
            preparing.remove(podUid);
        }
    }

    /**
     * Lets a container start with these GPUs, in the order of its grant.
     *
     * @param asked when the kubelet asked; of those with one instant only one starts
     * @throws StartRefused if they cannot be limited as this node limits them
     */
    void open(
            Instant asked,
            CdiDevice device,
            NodePod pod,
            ContainerPlacement grant,
            List<NodeGpu> gpus,
            Map<String, String> environment)
            throws StartRefused, IOException {
        if (interceptor.isPresent() && Interceptor.isBeyond(grant.gpus())) {
            throw StartRefused.forEver(
                    "Parts of GPUs are limited here by a library, which knows of one GPU: ask for whole ones, or for a part of one");
        }
        synchronized (starting) {
            starting.put(
                    device,
                    new Start(
                            pod.uid(),
                            grant.container(),
                            pod.running().get(grant.container()),
                            asked,
                            clock.instant().plus(LONGEST_START)));
        }
        JsonObject edits = driver.edits().of(gpus);
        interceptor.ifPresent(it -> it.addTo(edits, grant.gpus()));
        mgctl.ifPresent(it -> it.addTo(edits));
        mps.admit(pod, grant, edits);
        folder.write(device, edits, environment, share(pod, grant, gpus));
    }

    /** Takes the files of those away that run, or will not any more. */
    void closeStarted(NodePods pods) throws IOException {
        synchronized (starting) {
            List<Start> run =
                    starting.values().stream().filter(start -> runs(start, pods)).toList();
            for (CdiDevice device : Set.copyOf(starting.keySet())) {
                Start start = starting.get(device);
                if (start != null
                        && (!clock.instant().isBefore(start.until())
                                || run.stream().anyMatch(start::isAlternativeTo))) {
                    folder.close(device);
                    starting.remove(device);
                }
            }
        }
    }

    private static boolean runs(Start start, NodePods pods) {
        String running =
                pods.byUid(start.podUid())
                        .map(pod -> pod.running().get(start.container()))
                        .orElse(null);
        return running != null && !running.equals(start.before());
    }

    /** Whether a container of this pod may be starting just now. */
    boolean isStarting(String podUid) {
        synchronized (starting) {
            return preparing.contains(podUid)
                    || starting.values().stream().anyMatch(start -> start.podUid().equals(podUid));
        }
    }

    /**
     * Removes what is left of pods that have ended.
     *
     * @param ended which ones have, by UID
     */
    void removeIf(Predicate<String> ended) throws IOException {
        // Under no lock: who releases grants asks isStarting under theirs.
        folder.removeIf(ended);
    }

    private static JsonObject share(NodePod pod, ContainerPlacement grant, List<NodeGpu> gpus) {
        var list = new JsonArray();
        for (int i = 0; i < gpus.size(); i++) {
            GpuHold hold = grant.gpus().get(i);
            var gpu = new JsonObject();
            gpu.addProperty("index", gpus.get(i).physical().index());
            gpu.addProperty("uuid", hold.gpu());
            gpu.addProperty("model", gpus.get(i).physical().model());
            gpu.addProperty("core", hold.cores());
            gpu.addProperty("memoryMiB", hold.memory());
            gpu.addProperty("whole", hold.whole());
            if (!hold.whole()) {
                gpu.addProperty(
                        "tier",
                        hold.sharing().trusted().isPresent()
                                ? GpuNodeStatus.COOPERATIVE
                                : GpuNodeStatus.TIME_SLICE);
            }
            list.add(gpu);
        }
        var share = new JsonObject();
        share.addProperty("namespace", pod.namespace());
        share.addProperty("pod", pod.name());
        share.addProperty(CdiFolder.POD_UID, pod.uid());
        share.addProperty("container", grant.container());
        share.add("gpus", list);
        return share;
    }
}

package io.gpusharing.deviceplugin.mps;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.mps.Answer.Failure;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Sharing.Way;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node that serves MPS: pods that trust each other share a GPU as clients of its daemon, whoever
 * is not among them takes turns on other GPUs.
 */
public final class CooperativeMps implements Mps, NodeGpus {

    private static final Logger log = LoggerFactory.getLogger(CooperativeMps.class);

    /** So long before a pod's end its clients are ended: a kill in their work ends all others. */
    private static final Duration BEFORE_THE_END = Duration.ofSeconds(3);

    /** A pod with less is drained at once. */
    private static final long SHORT_GRACE_SECONDS = 5;

    private final Path root;
    private final Rules rules;
    private final Node node;
    private final MpsProgram program;
    private final Notices notices;
    private final Drains drains;
    private final InstantSource clock;
    private final Map<String, SharedGpu> shared = new ConcurrentHashMap<>();
    private final Map<Failure, Long> failures = new ConcurrentHashMap<>();

    /** Why a GPU cannot be looked after, by UUID. */
    private final Map<String, String> problems = new ConcurrentHashMap<>();

    /**
     * What the site has chosen.
     *
     * @param across which pods trust each other
     * @param mostClients that the driver lets use a GPU; the last place is left to the check
     */
    public record Rules(Sharing.Across across, int mostClients) {}

    /** What is known of the node. */
    public record Node(NodePods pods, NodeGpus gpus, Grants grants, Processes processes) {}

    /** Answers who belongs to a pod. */
    public interface Processes {
        /** Numbers of all processes of a pod, as the node counts them. */
        Set<Long> of(String podUid) throws IOException;
    }

    /** Tells a pod's owner. */
    public interface Notices {
        void rounded(NodePod pod, String message);
    }

    /**
     * @param root where the daemons have their folders
     * @param drains runs what may take long
     */
    public CooperativeMps(
            Path root,
            Rules rules,
            Node node,
            MpsProgram program,
            Notices notices,
            Executor drains,
            InstantSource clock) {
        this.root = root;
        this.rules = rules;
        this.node = node;
        this.program = program;
        this.notices = notices;
        this.drains = new Drains(node.processes(), drains);
        this.clock = clock;
    }

    @Override
    public Sharing sharing(NodePod pod, List<ContainerAsk> asks) {
        return Sharing.of(
                rules.across(),
                pod.namespace(),
                pod.annotations(),
                Sharing.isEligible(asks, pod.ipc().host(), pod.ipc().ownSharedMemory()::contains));
    }

    @Override
    public Optional<Obstacle> obstacle(NodePod pod, String container, GpuHold hold)
            throws IOException {
        SharedGpu gpu = gpu(hold.gpu());
        return hold.sharing().way() == Way.Cooperative
                ? gpu.toShare(pod.uid(), container, clientsGranted(pod.uid(), hold.gpu()))
                : gpu.toUseWithout(pod.uid());
    }

    /**
     * Containers that run together, each of which is a client at least: a pod's own, and those of
     * pods that had their parts before it. A pod waits for earlier ones, and never for later ones.
     */
    private int clientsGranted(String podUid, String uuid) {
        int clients = 0;
        for (PodGrant grant : node.grants().all()) {
            for (ContainerPlacement container : grant.containers()) {
                clients += isClient(container, uuid) && container.kind() != Kind.Init ? 1 : 0;
            }
            if (grant.uid().equals(podUid)) {
                break;
            }
        }
        return clients;
    }

    private static boolean isClient(ContainerPlacement container, String uuid) {
        return container.gpus().stream().anyMatch(hold -> isClient(hold, uuid));
    }

    private static boolean isClient(GpuHold hold, String uuid) {
        return hold.gpu().equals(uuid) && hold.sharing().way() == Way.Cooperative;
    }

    @Override
    public void admit(NodePod pod, ContainerPlacement container, JsonObject edits)
            throws IOException {
        for (GpuHold hold : container.gpus()) {
            if (hold.sharing().way() == Way.Cooperative) {
                SharedGpu gpu = gpu(hold.gpu());
                ClientEdits client =
                        ClientEdits.of(gpu.folder(), hold, gpu.state().computeCapability());
                client.addTo(edits);
                gpu.admitted(pod.uid(), container.container());
                client.notice(container.container())
                        .ifPresent(message -> notices.rounded(pod, message));
            }
        }
    }

    private SharedGpu gpu(String uuid) throws IOException {
        SharedGpu known = shared.get(uuid);
        if (known != null) {
            return known;
        }
        // Two of one GPU would not know of each other's clients and orders.
        synchronized (shared) {
            SharedGpu earlier = shared.get(uuid);
            if (earlier != null) {
                return earlier;
            }
            GpuFolder folder = GpuFolder.of(root, uuid);
            var control =
                    new MpsControl(
                            program,
                            folder,
                            MpsControl.USUAL,
                            failure -> failures.merge(failure, 1L, Long::sum));
            var made = new SharedGpu(folder, control, rules.mostClients() - 1);
            shared.put(uuid, made);
            return made;
        }
    }

    /** Looks after daemons and clients. Called every second, and when a pod has changed. */
    public void look() throws IOException {
        var uuids = new TreeSet<>(shared.keySet());
        GpuFolder.all(root).forEach(folder -> uuids.add(folder.gpu()));
        for (String uuid : uuids) {
            try {
                look(gpu(uuid));
                problems.remove(uuid);
            } catch (IOException | RuntimeException e) {
                // Those on other GPUs are to be looked after all the same.
                String problem =
                        e instanceof IOException ? String.valueOf(e.getMessage()) : e.toString();
                if (!problem.equals(problems.put(uuid, problem))) {
                    log.atError()
                            .addKeyValue("gpu", uuid)
                            .setCause(e)
                            .log("cannot look after a GPU that is shared by MPS");
                }
            }
        }
    }

    private void look(SharedGpu gpu) throws IOException {
        String uuid = gpu.folder().gpu();
        podsOn(uuid)
                .forEach((uid, pod) -> {
                    if (isDue(pod)) {
                        drains.begin(gpu, uid);
                    }
                });
        gpu.look(() -> podsOn(uuid));
    }

    /** Pods that have a part of a GPU by MPS, by UID; empty where the API server has none. */
    private Map<String, Optional<NodePod>> podsOn(String uuid) {
        var here = new HashMap<String, Optional<NodePod>>();
        for (PodGrant grant : node.grants().all()) {
            // Not what the pod holds in all: beside a whole GPU an init container's part is lost.
            if (grant.containers().stream().anyMatch(container -> isClient(container, uuid))) {
                here.put(grant.uid(), node.pods().byUid(grant.uid()));
            }
        }
        return here;
    }

    /** Whether a pod is about to be killed; one that was deleted by force is no pod any more. */
    private boolean isDue(Optional<NodePod> pod) {
        return pod.map(this::isDue).orElse(node.pods().isListed());
    }

    private boolean isDue(NodePod pod) {
        NodePod.Deletion deletion = pod.deletion();
        if (deletion == null || pod.ended()) {
            return false;
        }
        Instant due = deletion.end().minus(BEFORE_THE_END);
        return deletion.graceSeconds() < SHORT_GRACE_SECONDS || !clock.instant().isBefore(due);
    }

    /** The node's GPUs; one on which MPS is wanted and does not work is unhealthy. */
    @Override
    public List<NodeGpu> all() {
        var all = new ArrayList<NodeGpu>();
        for (NodeGpu gpu : node.gpus().all()) {
            String fault = gpu.fault() == null ? fault(gpu.uuid()) : "";
            all.add(
                    fault.isEmpty()
                            ? gpu
                            : new NodeGpu(gpu.physical(), "MPS does not work on it: " + fault));
        }
        return List.copyOf(all);
    }

    private String fault(String uuid) {
        String problem = problems.get(uuid);
        if (problem != null) {
            return problem;
        }
        SharedGpu gpu = shared.get(uuid);
        if (gpu == null) {
            return "";
        }
        try {
            DaemonState state = gpu.state();
            // One that starts again after a failure has shown nothing yet.
            return switch (state.phase()) {
                case Failed, Starting -> state.reason();
                case Ready, Stopped -> "";
            };
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** How often commands failed, by kind. */
    public Map<Failure, Long> failures() {
        return Map.copyOf(failures);
    }

    /** How often clients of pods that were to end were ended, by result. */
    public Map<String, Long> drained() {
        return drains.counts();
    }

    /** Whether the daemon of each GPU that was ever shared is ready. */
    public Map<String, Boolean> ready() {
        var ready = new HashMap<String, Boolean>();
        shared.forEach((uuid, gpu) -> {
            try {
                DaemonState state = gpu.state();
                if (state.phase() != Phase.Stopped) {
                    ready.put(uuid, state.phase() == Phase.Ready);
                }
            } catch (IOException e) {
                ready.put(uuid, false);
            }
        });
        return Map.copyOf(ready);
    }
}

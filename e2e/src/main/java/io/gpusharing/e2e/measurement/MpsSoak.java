package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import io.gpusharing.e2e.measurement.LivingContainers.Container;
import io.gpusharing.e2e.measurement.MpsClients.Event;
import io.gpusharing.e2e.measurement.MpsClients.What;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Kills clients of MPS at random on a real node, while others work beside them: their pods are
 * deleted with a grace between 0 and 30 seconds, or their process is killed. All of them ignore
 * SIGTERM and work, so that a kill which comes before their daemon has ended them ends all on their
 * GPU. NVIDIA's MPS is a stand-in (tools/workshop/mps.c), and its log is what is judged.
 */
public final class MpsSoak {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int KILLS = Integer.getInteger("kills", 1_000);
    private static final int GPUS = Integer.getInteger("gpus", 4);
    private static final long SEED = Long.getLong("seed", System.nanoTime() % 1_000_000);

    /** Pods that nobody has killed yet. */
    private static final int ALIVE = Integer.getInteger("alive", 8);

    private static final int LONGEST_GRACE = 30;

    /** One of so many kills comes without notice. */
    private static final int WITHOUT_NOTICE = 25;

    private static final int MOST_FAULTS_SHOWN = 20;
    private static final Duration BETWEEN = Duration.ofMillis(200);
    private static final Duration MOST = Duration.ofHours(2);

    private static final String NODE = "gpu-node-1";
    private static final List<String> TEAMS = List.of("red", "blue");

    private final TestCluster cluster;
    private final Random random = new Random(SEED);
    private final LivingContainers living = new LivingContainers(NODE);
    private final MpsAudit audit = new MpsAudit();
    private final Map<String, Integer> done = new TreeMap<>();
    private final List<String> faults = new ArrayList<>();
    private int mostAtOnce;

    private MpsSoak(TestCluster cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] arguments) throws IOException {
        System.out.printf("seed %d: %d kills, %d GPUs%n", SEED, KILLS, GPUS);
        Path dir = Repository.root().resolve(".run/node/cluster");
        try (TestCluster cluster = TestCluster.start(dir, Map.of("GPUS", Integer.toString(GPUS)))) {
            InClusterInstallation.on(cluster);
            // Meters would take as much of the processors as all that is judged here.
            InClusterInstallation.shareByMps(cluster, NODE, "sidecar.mode=None");
            TEAMS.forEach(team -> create(cluster, team));
            ObjectNode result = new MpsSoak(cluster).run();
            System.out.println(result.toPrettyString());
            if (arguments.length > 0) {
                Files.writeString(Path.of(arguments[0]), result.toPrettyString() + "\n");
            }
            if (!result.path("faults").isEmpty()) {
                System.err.println("FAILED with the seed " + SEED);
                System.exit(1);
            }
        }
    }

    private static void create(TestCluster cluster, String team) {
        cluster.createNamespace(team);
        cluster.kubectl()
                .pipe(
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '100000'}}"
                                .formatted(team),
                        "create",
                        "-f",
                        "-")
                .orFail();
    }

    private ObjectNode run() {
        Instant begun = Instant.now();
        try {
            soak(begun.plus(MOST));
            Awaitility.await("whoever was killed has ended")
                    .atMost(Duration.ofMinutes(3))
                    .until(() -> audit.isComplete(MpsClients.events()));
        } catch (InterruptedException | RuntimeException e) {
            faults.add("it broke off: " + e);
        }
        List<Event> events = MpsClients.events();
        faults.addAll(audit.faults(events));
        Duration took = Duration.between(begun, Instant.now());
        tidyUp();
        return result(begun, took, events);
    }

    private void soak(Instant end) throws InterruptedException {
        int told = 0;
        while (audit.kills() < KILLS) {
            if (Instant.now().isAfter(end)) {
                faults.add("only %d kills in %s".formatted(audit.kills(), MOST));
                return;
            }
            try {
                act(MpsClients.events());
            } catch (KubernetesClientException e) {
                done.merge("refused by the API server: " + e.getCode(), 1, Integer::sum);
            }
            if (audit.kills() >= told + 50) {
                told = audit.kills();
                System.out.printf("%4d kills, %d faults %s%n", told, faults.size(), done);
            }
            Thread.sleep(BETWEEN);
        }
    }

    private void act(List<Event> events) {
        var left = new ArrayList<Pod>();
        for (String team : TEAMS) {
            for (Pod pod : cluster.client().pods().inNamespace(team).list().getItems()) {
                if (pod.getMetadata().getDeletionTimestamp() == null) {
                    left.add(pod);
                }
            }
        }
        for (Pod pod : left) {
            String since = pod.getStatus().getStartTime();
            if (since != null) {
                audit.taken(pod.getMetadata().getName(), Instant.parse(since));
            }
        }
        Map<String, Event> last = last(events);
        mostAtOnce = Math.max(mostAtOnce, working(last).size());
        left.removeIf(pod -> isBuried(pod, last));
        List<Pod> targets =
                left.stream()
                        .filter(pod -> working(last).contains(pod.getMetadata().getName()))
                        .filter(pod -> !audit.isKilled(pod.getMetadata().getName()))
                        .toList();
        if (left.size() < ALIVE) {
            create();
        } else if (!targets.isEmpty()) {
            kill(targets.get(random.nextInt(targets.size())));
        }
    }

    private static Map<String, Event> last(List<Event> events) {
        var last = new HashMap<String, Event>();
        events.forEach(event -> last.put(event.host(), event));
        return last;
    }

    private static Set<String> working(Map<String, Event> last) {
        var working = new HashSet<String>();
        last.forEach((host, event) -> {
            if (event.what() == What.Begins) {
                working.add(host);
            }
        });
        return working;
    }

    /** Whether a pod has ended; then it is deleted, and must have been killed or beside a kill. */
    private boolean isBuried(Pod pod, Map<String, Event> last) {
        String name = pod.getMetadata().getName();
        if (!List.of("Failed", "Succeeded").contains(pod.getStatus().getPhase())) {
            return false;
        }
        Event end = last.get(name);
        String reason = pod.getStatus().getReason();
        if (end != null && (end.what() == What.Killed || end.what() == What.Fails)) {
            done.merge("ended " + end.what(), 1, Integer::sum);
        } else if (end == null && reason != null) {
            done.merge("not started: " + reason, 1, Integer::sum);
        } else {
            faults.add(
                    "%s ended after %s, and nobody killed it: %s"
                            .formatted(name, end, exit(pod.getStatus().getContainerStatuses())));
        }
        cluster.client().resource(pod).withGracePeriod(1).delete();
        return true;
    }

    private static List<Object> exit(List<ContainerStatus> containers) {
        return containers.stream().map(it -> (Object) it.getState().getTerminated()).toList();
    }

    private void create() {
        int number = done.merge("created", 1, Integer::sum);
        String team = TEAMS.get(random.nextInt(TEAMS.size()));
        // Percentages that are right on every GPU.
        int core = 5 + 4 * random.nextInt(3);
        String pod =
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s-%d, namespace: %1$s}
                spec:
                  nodeSelector: {kubernetes.io/hostname: %s}
                  restartPolicy: Never
                  containers:
                  - name: cuda
                    image: nvidia/cuda:13.0.1-base-ubuntu24.04
                    env: [{name: SOAK_CONTAINER, value: cuda}]
                    command: [nvidia-cuda-mps-control, client, work, '86400']
                    resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: 2}}
                """
                        .formatted(team, number, NODE, core);
        cluster.client().pods().resource(Serialization.unmarshal(pod, Pod.class)).create();
    }

    private void kill(Pod pod) {
        String name = pod.getMetadata().getName();
        if (random.nextInt(WITHOUT_NOTICE) == 0) {
            for (Container container : living.now()) {
                if (container.podUid().equals(pod.getMetadata().getUid())) {
                    audit.kill(name);
                    ProcessHandle.of(container.process()).ifPresent(ProcessHandle::destroyForcibly);
                }
            }
        } else {
            int grace = random.nextInt(LONGEST_GRACE + 1);
            audit.delete(name, grace);
            cluster.client().resource(pod).withGracePeriod(grace).delete();
        }
    }

    /** Nobody holds a GPU once all pods are gone. */
    private void tidyUp() {
        for (String team : TEAMS) {
            cluster.kubectl()
                    .run("delete", "pods", "--all", "--namespace=" + team, "--grace-period=1")
                    .orFail();
        }
        try {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(90))
                    .until(() -> working(last(MpsClients.events())).isEmpty());
        } catch (ConditionTimeoutException e) {
            faults.add("left behind: " + working(last(MpsClients.events())));
        }
    }

    private ObjectNode result(Instant begun, Duration took, List<Event> events) {
        ObjectNode result = JSON.createObjectNode();
        result.put("when", begun.toString());
        result.put("seed", SEED);
        result.put("seconds", took.toSeconds());
        result.put("gpus", GPUS);
        result.put("most_clients_at_once", mostAtOnce);
        result.setAll(audit.counts(events));
        ObjectNode actions = result.putObject("done");
        done.forEach(actions::put);
        var list = result.putArray("faults");
        faults.stream().limit(MOST_FAULTS_SHOWN).forEach(list::add);
        return result;
    }
}

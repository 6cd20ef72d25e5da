package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import io.gpusharing.e2e.measurement.FractionAudit.Ask;
import io.gpusharing.e2e.measurement.LivingContainers.Container;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Starts and kills containers with fractions at random on a real node, while its device plugin, its
 * kubelet and its containerd are killed again and again. Some times a second it looks at the living
 * processes: what each of them has must be what its pod asked for and what it was granted, and no
 * GPU may have more holders than it has room for. At the end nothing may be left of anybody.
 */
public final class FractionSoak {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONTAINERS = Integer.getInteger("containers", 1_000);
    private static final int RESTARTS = Integer.getInteger("restarts", 20);
    private static final int GPUS = Integer.getInteger("gpus", 4);
    private static final long SEED = Long.getLong("seed", System.nanoTime() % 1_000_000);

    private static final int ALIVE = 12;
    private static final int WITHOUT_SHARE = 99;
    private static final int MOST_FAULTS_SHOWN = 20;
    private static final Duration BETWEEN = Duration.ofMillis(200);
    private static final Duration MOST = Duration.ofHours(2);

    private static final String NODE = "gpu-node-1";
    private static final String TEAM = "soak";

    private final TestCluster cluster;
    private final Random random = new Random(SEED);
    private final LivingContainers living = new LivingContainers(NODE);
    private final FractionAudit audit;
    private final Map<String, Integer> done = new TreeMap<>();

    private FractionSoak(TestCluster cluster) throws IOException {
        this.cluster = cluster;
        cluster.kubectl().run("label", "node", NODE, "gpusharing.io/gpus=shared").orFail();
        awaitPlugin();
        this.audit = new FractionAudit(living, gpuNode().at("/status/gpus"));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        System.out.printf(
                "seed %d: %d containers, %d restarts, %d GPUs%n", SEED, CONTAINERS, RESTARTS, GPUS);
        Path dir = Repository.root().resolve(".run/node/cluster");
        try (TestCluster cluster = TestCluster.start(dir, Map.of("GPUS", Integer.toString(GPUS)))) {
            InClusterInstallation.on(cluster);
            cluster.createNamespace(TEAM);
            ObjectNode result = new FractionSoak(cluster).run();
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

    private ObjectNode run() {
        Instant begun = Instant.now();
        Thread looking = Thread.ofVirtual().start(this::keepLooking);
        try {
            soak(begun.plus(MOST));
            tidyUp();
        } catch (InterruptedException | RuntimeException e) {
            audit.add("it broke off: " + e);
        } finally {
            looking.interrupt();
        }
        return result(begun, Duration.between(begun, Instant.now()));
    }

    private void soak(Instant end) throws InterruptedException {
        int restarts = 0;
        while (audit.containers() < CONTAINERS || restarts < RESTARTS) {
            if (Instant.now().isAfter(end)) {
                audit.add("only %d containers in %s".formatted(audit.containers(), MOST));
                return;
            }
            try {
                act();
            } catch (KubernetesClientException e) {
                // Of the webhook, for instance, which runs on the node whose programs are killed.
                done.merge("refused by the API server: " + e.getCode(), 1, Integer::sum);
            }
            if (restarts < RESTARTS
                    && audit.containers() >= (restarts + 1) * CONTAINERS / RESTARTS) {
                restart(restarts++);
                System.out.printf(
                        "%4d containers, %2d restarts, %d faults%n",
                        audit.containers(), restarts, audit.faults().size());
            }
            Thread.sleep(BETWEEN);
        }
    }

    private void keepLooking() {
        try {
            while (true) {
                audit.look();
                Thread.sleep(BETWEEN);
            }
        } catch (InterruptedException e) {
            return;
        } catch (IOException | RuntimeException e) {
            audit.add("nobody looks any more: " + e);
        }
    }

    private void act() {
        List<Pod> pods = cluster.client().pods().inNamespace(TEAM).list().getItems();
        pods.forEach(this::checkExits);
        List<Pod> failed =
                pods.stream()
                        .filter(pod -> "Failed".equals(pod.getStatus().getPhase()))
                        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                        .toList();
        if (!failed.isEmpty()) {
            // A kubelet that starts fails pods whose plugin it does not know yet.
            delete(failed.getFirst(), "deleted after " + failed.getFirst().getStatus().getReason());
        } else if (pods.size() < ALIVE || random.nextInt(10) == 0) {
            create();
        } else {
            Pod pod = pods.get(random.nextInt(pods.size()));
            switch (random.nextInt(4)) {
                case 0 -> delete(pod, "deleted");
                case 1 -> deleteByForce(pod);
                default -> kill(pod);
            }
        }
    }

    /** Whether one of its containers has found that it had no share when it started. */
    private void checkExits(Pod pod) {
        Stream.of(
                        pod.getStatus().getInitContainerStatuses(),
                        pod.getStatus().getContainerStatuses())
                .flatMap(List::stream)
                .flatMap(status -> Stream.of(status.getState(), status.getLastState()))
                .filter(Objects::nonNull)
                .map(ContainerState::getTerminated)
                .filter(it -> it != null && it.getExitCode() == WITHOUT_SHARE)
                .forEach(_ ->
                        audit.add(
                                "a container of pod %s was started without its share"
                                        .formatted(pod.getMetadata().getUid())));
    }

    private void create() {
        Map<String, Ask> asks = new TreeMap<>();
        Ask first = ask();
        String init = "";
        String more = "";
        asks.put("cuda", first);
        if (random.nextInt(5) == 0) {
            asks.put("prepare", first);
            init = container("prepare", first);
        } else if (random.nextInt(5) == 0 && first.core() < 100) {
            Ask second = ask(10 * (1 + random.nextInt(4)));
            asks.put("second", second);
            more = ", " + container("second", second);
        }
        String name = "pod-" + done.merge("created", 1, Integer::sum);
        String pod =
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, namespace: %s}
                spec:
                  nodeSelector: {kubernetes.io/hostname: %s}
                  terminationGracePeriodSeconds: 1
                  initContainers: [%s]
                  containers: [%s]
                """
                        .formatted(name, TEAM, NODE, init, container("cuda", first) + more);
        Pod created =
                cluster.client().pods().resource(Serialization.unmarshal(pod, Pod.class)).create();
        audit.expect(created.getMetadata().getUid(), asks);
    }

    /** One that is started without its GPUs ends, and says so by its status. */
    private static String container(String name, Ask ask) {
        String body = name.equals("prepare") ? "sleep 0.5" : "while :; do sleep 1; done";
        return "{name: %s, image: nvidia/cuda:13.0.1-base-ubuntu24.04, env: [{name: SOAK_CONTAINER, value: %1$s}], command: [sh, -c, \"trap 'exit 1' TERM; test -s /run/gpusharing/share.json || exit %d; %s\"], resources: {limits: {%s}}}"
                .formatted(name, WITHOUT_SHARE, body, ask.limits());
    }

    private Ask ask() {
        return switch (random.nextInt(8)) {
            case 0 -> new Ask(100, 0);
            case 1 -> new Ask(200, 0);
            default -> ask(10 * (1 + random.nextInt(9)));
        };
    }

    private Ask ask(int core) {
        return new Ask(core, 1 + random.nextInt(20));
    }

    private void delete(Pod pod, String what) {
        done.merge(what, 1, Integer::sum);
        cluster.client().resource(pod).delete();
    }

    private void deleteByForce(Pod pod) {
        done.merge("deleted by force", 1, Integer::sum);
        cluster.client().resource(pod).withGracePeriod(0).delete();
    }

    /** Its containers are started again by the kubelet, in vain or not. */
    private void kill(Pod pod) {
        for (Container container : living.now()) {
            if (container.podUid().equals(pod.getMetadata().getUid())) {
                done.merge("killed", 1, Integer::sum);
                ProcessHandle.of(container.process()).ifPresent(ProcessHandle::destroyForcibly);
            }
        }
    }

    private void restart(int number) {
        switch (number % 5) {
            case 0 -> killPlugin();
            case 1 -> cluster.node("restart", NODE, "kubelet");
            case 2 -> cluster.node("restart", NODE, "containerd");
            case 3 -> {
                killPlugin();
                cluster.node("restart", NODE, "kubelet");
            }
            default -> {
                cluster.node("restart", NODE, "kubelet");
                killPlugin();
            }
        }
        done.merge("restarts", 1, Integer::sum);
    }

    private static void killPlugin() {
        PluginProcess.find().ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Nothing is left of anybody once all pods are gone. */
    private void tidyUp() {
        cluster.kubectl()
                .run("delete", "pods", "--all", "--namespace=" + TEAM, "--grace-period=1")
                .orFail();
        awaitPlugin();
        try {
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> audit.left().isEmpty());
        } catch (ConditionTimeoutException e) {
            audit.add("left behind: " + audit.left());
        }
    }

    private void awaitPlugin() {
        Awaitility.await("the device plugin is ready")
                .atMost(Duration.ofSeconds(90))
                .until(() -> !gpuNode().at("/status/gpus").isEmpty() && offered());
    }

    private boolean offered() {
        return cluster.kubectl()
                .run("get", "node", NODE, "--output=jsonpath={.status.allocatable}")
                .text()
                .contains("\"tencent.com/vcuda-core\":\"%d\"".formatted(GPUS * 100));
    }

    private JsonNode gpuNode() throws IOException {
        String text =
                cluster.kubectl()
                        .run("get", "gpunode", NODE, "--ignore-not-found", "--output=json")
                        .text();
        return JSON.readTree(text.startsWith("{") ? text : "{}");
    }

    private ObjectNode result(Instant begun, Duration took) {
        ObjectNode result = JSON.createObjectNode();
        result.put("when", begun.toString());
        result.put("seed", SEED);
        result.put("seconds", took.toSeconds());
        result.put("gpus", GPUS);
        result.put("containers", audit.containers());
        result.put("most_at_once", audit.mostAtOnce());
        result.put("looks", audit.looks());
        ObjectNode actions = result.putObject("done");
        done.forEach(actions::put);
        var list = result.putArray("faults");
        audit.faults().stream().limit(MOST_FAULTS_SHOWN).forEach(list::add);
        return result;
    }
}

package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.SimulatedGpuNode;
import io.gpusharing.e2e.measurement.PlacementAudit.Outage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Pods with fractions come and go at random, more than there is room for, while kube-schedulers,
 * extenders and the API server are killed and the leadership passes on. Afterwards the API server's
 * audit log is held against the rules by {@link PlacementAudit}.
 *
 * <p>Control plane, kube-scheduler and extender are real; nodes and device plugins are simulated.
 */
public final class PlacementSoak {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PODS = Integer.getInteger("pods", 10_000);
    private static final int KILLS = Integer.getInteger("kills", 100);
    private static final int NODES = Integer.getInteger("nodes", 8);
    private static final int PAUSE_MILLIS = Integer.getInteger("pause", 80);
    private static final long SEED = Long.getLong("seed", System.nanoTime() % 1_000_000);

    private static final int GPUS = 4;
    private static final int BLOCKS = 60;

    /** About as many as there is room for, and a dozen more. */
    private static final int ALIVE = NODES * GPUS * 2 + 12;

    private static final int MOST_FAULTS_SHOWN = 60;
    private static final int LOOK_AGAIN_AFTER = 10;
    private static final Duration LONGEST_GRANT_AFTER_END = Duration.ofSeconds(2);
    private static final Duration MOST = Duration.ofHours(3);
    private static final Duration OUTAGE = Duration.ofMinutes(2);
    private static final String TEAM = "soak";
    private static final String CANARIES = "canaries";

    private enum Target {
        EXTENDER,
        SCHEDULER,
        REPLICA,
        API_SERVER,
        HANG
    }

    private final TestCluster cluster;
    private final Random random = new Random(SEED);
    private final Random kills = new Random(SEED + 1);
    private final List<PlacingScheduler> replicas;
    private final SimulatedPlugins plugins;
    private final Map<String, Integer> done = new TreeMap<>();
    private final List<Outage> outages = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final List<String> alive = new ArrayList<>();
    private int created;
    private int actions;
    private int canaries;

    private PlacementSoak(TestCluster cluster) {
        this.cluster = cluster;
        Chart.createKinds(cluster);
        cluster.createNamespace(TEAM);
        cluster.createNamespace(CANARIES);
        List.of("low:-100", "middle:100", "high:1000")
                .forEach(it -> {
                    String[] pair = it.split(":", -1);
                    cluster.kubectl()
                            .run("create", "priorityclass", pair[0], "--value=" + pair[1])
                            .orFail();
                });
        List<String> nodes =
                IntStream.rangeClosed(1, NODES).mapToObj("soak-node-%02d"::formatted).toList();
        cluster.kubectl().run("delete", "nodes", "--all").orFail();
        nodes.forEach(node -> cluster.kubectl().pipe(node(node), "create", "-f", "-").orFail());
        this.plugins =
                new SimulatedPlugins(
                        cluster.client(),
                        nodes.stream()
                                .map(node -> new SimulatedGpuNode(cluster.client(), node, GPUS))
                                .toList(),
                        LONGEST_GRANT_AFTER_END,
                        new SplittableRandom(SEED + 2));
        plugins.start();
        this.replicas =
                List.of(
                        PlacingScheduler.replica(cluster, "scheduler-a"),
                        PlacingScheduler.replica(cluster, "scheduler-b"));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        System.out.printf(
                "seed %d: %d pods, %d kills, %d nodes of %d GPUs%n",
                SEED, PODS, KILLS, NODES, GPUS);
        Path dir = Repository.root().resolve(".run/placement-soak");
        try (TestCluster cluster = TestCluster.start(dir)) {
            ObjectNode result = new PlacementSoak(cluster).run();
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

    private static String node(String name) {
        String amounts =
                "{cpu: '32', memory: 256Gi, pods: '110', tencent.com/vcuda-core: '%d', tencent.com/vcuda-memory: '%d'}"
                        .formatted(GPUS * 100, GPUS * BLOCKS);
        return """
        apiVersion: v1
        kind: Node
        metadata:
          name: %1$s
          annotations: {kwok.x-k8s.io/node: fake}
          labels: {kubernetes.io/hostname: %1$s, kubernetes.io/os: linux, kubernetes.io/arch: amd64}
        status: {capacity: %2$s, allocatable: %2$s}
        """
                .formatted(name, amounts);
    }

    private ObjectNode run() throws IOException, InterruptedException {
        Instant begun = Instant.now();
        Thread killing = Thread.ofPlatform().name("kills").start(this::killAgainAndAgain);
        Instant end = begun.plus(MOST);
        while ((created < PODS || killing.isAlive()) && Instant.now().isBefore(end)) {
            try {
                act();
            } catch (KubernetesClientException e) {
                done.merge("refused by the API server: " + e.getCode(), 1, Integer::sum);
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        killing.interrupt();
        killing.join();
        if (created < PODS || outages.size() < KILLS) {
            faults.add("only %d pods and %d kills".formatted(created, outages.size()));
        }
        settle();
        plugins.close();
        PlacementAudit audit;
        try (var log = Files.newBufferedReader(cluster.auditLog())) {
            audit = PlacementAudit.of(log, outages);
        }
        faults.addAll(audit.faults());
        return result(begun, audit);
    }

    private void act() {
        if (actions++ % LOOK_AGAIN_AFTER == 0) {
            look();
        }
        if (alive.size() < ALIVE) {
            create();
        } else {
            delete(alive.remove(random.nextInt(alive.size())));
            if (random.nextInt(20) == 0) {
                // Half of all go at once, as when a team goes home.
                while (alive.size() > ALIVE / 2) {
                    delete(alive.remove(random.nextInt(alive.size())));
                }
            }
        }
    }

    /** Some have been preempted. */
    private void look() {
        alive.clear();
        for (Pod pod :
                cluster.client()
                        .pods()
                        .inNamespace(TEAM)
                        .list(new ListOptionsBuilder().withResourceVersion("0").build())
                        .getItems()) {
            if (pod.getMetadata().getDeletionTimestamp() == null) {
                alive.add(pod.getMetadata().getName());
            }
        }
    }

    private void create() {
        String name = "pod-%05d".formatted(created);
        String containers =
                switch (random.nextInt(20)) {
                    case 0 -> container("cuda", 100, 0);
                    case 1 -> container("cuda", 200, 0);
                    case 2 ->
                            container("cuda", 5 * (1 + random.nextInt(8)), 1 + random.nextInt(15))
                                    + ", "
                                    + container(
                                            "second",
                                            5 * (1 + random.nextInt(8)),
                                            1 + random.nextInt(15));
                    default ->
                            container("cuda", 5 * (1 + random.nextInt(19)), 1 + random.nextInt(35));
                };
        String priority =
                switch (random.nextInt(10)) {
                    case 0 -> "high";
                    case 1, 2 -> "middle";
                    default -> "low";
                };
        String pod =
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, namespace: %s, labels: {gpusharing.io/metered: 'true'}}
                spec:
                  schedulerName: gpusharing-scheduler
                  priorityClassName: %s
                  terminationGracePeriodSeconds: %d
                  containers: [%s]
                """
                        .formatted(name, TEAM, priority, 1 + random.nextInt(5), containers);
        created++;
        cluster.client().resource(Serialization.unmarshal(pod, Pod.class)).create();
        alive.add(name);
        done.merge("created", 1, Integer::sum);
    }

    private static String container(String name, int core, int blocks) {
        String memory = blocks > 0 ? ", tencent.com/vcuda-memory: " + blocks : "";
        return "{name: %s, image: cuda, resources: {limits: {tencent.com/vcuda-core: %d%s}}}"
                .formatted(name, core, memory);
    }

    private void delete(String name) {
        var pod = cluster.client().pods().inNamespace(TEAM).withName(name);
        if (random.nextInt(5) == 0) {
            pod.withGracePeriod(0).delete();
            done.merge("deleted by force", 1, Integer::sum);
        } else {
            pod.delete();
            done.merge("deleted", 1, Integer::sum);
        }
    }

    private void killAgainAndAgain() {
        try {
            for (int kill = 1; kill <= KILLS; kill++) {
                // Some come while the last one's work is still being done, some find peace.
                Thread.sleep(500L + kills.nextInt(kills.nextBoolean() ? 4_000 : 25_000));
                Target target = Target.values()[kills.nextInt(Target.values().length)];
                Instant from = Instant.now();
                kill(target, replicas.get(kills.nextInt(replicas.size())));
                awaitLeader(Instant.now());
                outages.add(new Outage(from, Instant.now()));
                System.out.printf(
                        "%3d kills, %5d pods: %s, back after %d s%n",
                        kill, created, target, Duration.between(from, Instant.now()).toSeconds());
            }
        } catch (InterruptedException e) {
            return;
        } catch (RuntimeException e) {
            faults.add("no more kills: " + e);
        }
    }

    private void kill(Target target, PlacingScheduler replica) throws InterruptedException {
        switch (target) {
            case EXTENDER -> replica.restartExtender();
            case SCHEDULER -> replica.restartScheduler();
            case REPLICA -> {
                replica.restartScheduler();
                replica.restartExtender();
            }
            case API_SERVER -> {
                cluster.killApiServer();
                Thread.sleep(kills.nextInt(3_000));
                cluster.resume();
            }
            case HANG -> {
                replica.standStill();
                Thread.sleep(2_000L + kills.nextInt(20_000));
                replica.goOn();
            }
        }
        done.merge("killed " + target, 1, Integer::sum);
    }

    /** A living one has written the Lease since then, and each extender has read the cluster. */
    private void awaitLeader(Instant since) {
        Awaitility.await("a scheduler leads")
                .atMost(OUTAGE)
                .pollInterval(Duration.ofMillis(500))
                .ignoreExceptions()
                .until(() -> {
                    replicas.forEach(PlacingScheduler::restartEnded);
                    return cluster.client()
                            .leases()
                            .inNamespace("kube-system")
                            .withName(PlacingScheduler.LEASE)
                            .get()
                            .getSpec()
                            .getRenewTime()
                            .toInstant()
                            .isAfter(since);
                });
        replicas.forEach(PlacingScheduler::awaitReady);
        awaitCanary("canary-%d".formatted(canaries++));
    }

    /** A kube-scheduler writes its Lease before its watches are back, which it tries seldom. */
    private void awaitCanary(String name) {
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: v1
                        kind: Pod
                        metadata: {name: %s, namespace: %s}
                        spec: {schedulerName: gpusharing-scheduler, containers: [{name: c, image: c}]}
                        """
                                .formatted(name, CANARIES),
                        "create",
                        "-f",
                        "-")
                .orFail();
        Awaitility.await("a pod without GPUs is bound")
                .atMost(OUTAGE)
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .until(() -> {
                    replicas.forEach(PlacingScheduler::restartEnded);
                    return cluster.client()
                                    .pods()
                                    .inNamespace(CANARIES)
                                    .withName(name)
                                    .get()
                                    .getSpec()
                                    .getNodeName()
                            != null;
                });
    }

    /** Who waits then has no room, and nothing is left of anybody once all pods are gone. */
    private void settle() throws InterruptedException {
        awaitLeader(Instant.now());
        Thread.sleep(PlacementAudit.PATIENCE.multipliedBy(3));
        for (String kind : List.of("overbooked", "elsewhere", "unplaced", "gone")) {
            if (replicas.stream()
                    .anyMatch(it ->
                            !it.shows(
                                    "gpusharing_scheduler_drift{kind=\"%s\"} 0.0"
                                            .formatted(kind)))) {
                faults.add("drift in the end: " + kind);
            }
        }
        try {
            Awaitility.await().atMost(OUTAGE).until(() -> boundAndToldWhyTheyWait().isEmpty());
        } catch (ConditionTimeoutException e) {
            faults.add("bound, and still told why they wait: " + boundAndToldWhyTheyWait());
        }
        cluster.kubectl()
                .run("delete", "pods", "--all", "--namespace=" + TEAM, "--timeout=120s")
                .orFail();
        try {
            Awaitility.await()
                    .atMost(OUTAGE)
                    .until(() ->
                            plugins.idle()
                                    && cluster.kubectl()
                                            .run("get", "gpureservations", "--output=name")
                                            .orFail()
                                            .isBlank());
        } catch (ConditionTimeoutException e) {
            faults.add(
                    "left behind: "
                            + cluster.kubectl().run("get", "gpureservations", "-o", "yaml").text());
        }
    }

    private List<String> boundAndToldWhyTheyWait() {
        return cluster.client().pods().inNamespace(TEAM).list().getItems().stream()
                .filter(pod -> pod.getSpec().getNodeName() != null)
                .filter(pod ->
                        pod.getStatus().getConditions().stream()
                                .anyMatch(it ->
                                        it.getType().equals("gpusharing.io/Placement")
                                                && it.getStatus().equals("False")))
                .map(pod -> pod.getMetadata().getName())
                .toList();
    }

    private ObjectNode result(Instant begun, PlacementAudit audit) {
        ObjectNode result = JSON.createObjectNode();
        result.put("when", begun.toString());
        result.put("seed", SEED);
        result.put("seconds", Duration.between(begun, Instant.now()).toSeconds());
        result.put("nodes", NODES);
        result.put("gpus", NODES * GPUS);
        result.put("pods", audit.pods());
        result.put("bound", audit.boundPods());
        ObjectNode evictions = result.putObject("preempted");
        audit.evictions().forEach(evictions::put);
        result.put("had_to_wait_for_the_device_plugin", plugins.refused());
        result.put("longest_wait_beside_room_ms", audit.longestWaitBesideRoom().toMillis());
        result.put(
                "outage_seconds",
                outages.stream()
                        .mapToLong(it -> Duration.between(it.from(), it.to()).toSeconds())
                        .sum());
        ObjectNode actions = result.putObject("done");
        done.forEach(actions::put);
        result.put("fault_count", faults.size());
        var list = result.putArray("faults");
        faults.stream().limit(MOST_FAULTS_SHOWN).forEach(list::add);
        return result;
    }
}

package io.gpusharing.e2e.meter;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InjectedSidecar;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.NodeAgent;
import io.gpusharing.e2e.installation.TimekeeperApi;
import io.gpusharing.e2e.installation.UsualInstallation;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the timekeeper shows of three pods that share one GPU at 50, 30 and 20 percent and keep 80,
 * 10 and 0 percent of it busy: for each generation of drivers once with sidecars alone, and once on
 * a node with an agent. All of them run at the same time.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(UsualInstallation.OfTheRun.class)
class MeterIT {

    private static final String LAB = "lab";
    private static final Map<String, String> DRIVERS =
            Map.of(
                    "535", "535.161.08",
                    "550", "550.54.14",
                    "565", "565.57.01",
                    "570", "570.86.15");

    /** Share of the GPU in percent, to the percent of it that the pod keeps busy. */
    private static final Map<Integer, Integer> LOADS = Map.of(50, 80, 30, 10, 20, 0);

    private static final Map<String, String> REPORTING_OFTEN =
            Map.of("GPUSHARING_REPORT_PERIOD", "PT2S");
    private static final long ENOUGH_MICROS = 12_000_000;

    private static TestCluster cluster;
    private static Installation installation;
    private static final Map<String, Pod> PODS = new HashMap<>();
    private static final Map<String, Program> SIDECARS = new HashMap<>();

    @BeforeAll
    static void start(UsualInstallation usual) throws IOException {
        cluster = usual.cluster();
        installation = usual.installation();
        cluster.createNamespace(LAB);
        cluster.createNamespace("strangers");
        var manifests = new ArrayList<String>();
        for (String generation : DRIVERS.keySet()) {
            cluster.kubectl().pipe(node(agentNode(generation)), "create", "-f", "-").orFail();
            for (int share : LOADS.keySet()) {
                manifests.add(pod(alone(generation, share), aloneNode(generation), share));
                manifests.add(pod(agents(generation, share), agentNode(generation), share));
            }
        }
        manifests.add(pod("copied", agentNode("535"), 1));
        manifests.add(podWithoutGpu("miner", agentNode("570")));
        cluster.kubectl()
                .pipe(String.join("---\n", manifests), "create", "-n", LAB, "-f", "-")
                .orFail();
        cluster.kubectl()
                .pipe(pod("stranger", agentNode("550"), 1), "create", "-n", "strangers", "-f", "-")
                .orFail();
        for (String namespace : List.of(LAB, "strangers")) {
            cluster.kubectl()
                    .run("wait", "pods", "--all", "-n", namespace, "--for=condition=Ready")
                    .orFail();
            cluster.client()
                    .pods()
                    .inNamespace(namespace)
                    .list()
                    .getItems()
                    .forEach(pod -> PODS.put(pod.getMetadata().getName(), pod));
        }
        for (String generation : DRIVERS.keySet()) {
            startAgent(generation);
            LOADS.keySet().forEach(share -> startSidecar(generation, share));
        }
    }

    @ParameterizedTest(name = "driver {0}")
    @ValueSource(strings = {"535", "550", "565", "570"})
    @Order(1)
    void aSidecarAloneMeasuresFrom570OnAndBeforeSaysWhyNot(String generation) {
        for (var load : LOADS.entrySet()) {
            JsonNode use = watched(alone(generation, load.getKey())).path("use");

            assertThat(use.path("meter").asText()).isEqualTo("Sidecar");
            if (generation.equals("570")) {
                assertThat(use.path("basis").asText()).isEqualTo("Process");
                assertMeasured(use, load.getValue());
            } else {
                assertThat(use.path("basis").asText()).isEqualTo("Allocation");
                assertThat(use.path("basisReason").asText()).isNotEmpty();
                assertThat(use.path("measured").asLong()).isZero();
                assertThat(use.path("coveredMicroseconds").asLong()).isZero();
            }
        }
    }

    @ParameterizedTest(name = "driver {0}")
    @ValueSource(strings = {"535", "550", "565", "570"})
    @Order(2)
    void anAgentMeasuresOnEveryDriver(String generation) {
        for (var load : LOADS.entrySet()) {
            JsonNode use = watched(agents(generation, load.getKey())).path("use");

            assertThat(use.path("meter").asText()).isEqualTo("Agent");
            assertThat(use.path("basis").asText()).isEqualTo("Process");
            assertMeasured(use, load.getValue());
        }
    }

    @Test
    @Order(3)
    void aPodThatUsesAGpuWithoutRequestingOneGetsAnEvent() {
        patiently("the pod has an Event")
                .untilAsserted(() ->
                        assertThat(
                                        cluster.kubectl()
                                                .run(
                                                        "get",
                                                        "events",
                                                        "-n",
                                                        LAB,
                                                        "--field-selector",
                                                        "reason=GpuUsedWithoutRequest",
                                                        "-o",
                                                        "jsonpath={.items[*].involvedObject.name}: {.items[*].message}")
                                                .orFail())
                                .startsWith("miner: It uses GPU-570-agent"));
    }

    @Test
    @Order(4)
    void aForgedReportIsRefusedAndSeen() {
        double before = refused("foreign_pod");
        String victim = uid(alone("570", 50));

        int ofANeighbour =
                installation.api().report(token("lab", alone("570", 30)), forged(victim));
        int ofAStranger = installation.api().report(token("strangers", "stranger"), forged(victim));

        assertThat(List.of(ofANeighbour, ofAStranger)).containsOnly(403);
        assertThat(refused("foreign_pod")).isEqualTo(before + 2);
    }

    @Test
    @Order(5)
    void aCopiedTokenOfADeletedPodIsRefusedAndSeen() {
        String copied = token(LAB, "copied");
        String uid = uid("copied");
        assertThat(installation.api().report(copied, forged(uid))).isEqualTo(200);
        double before = refused("pod_not_alive");

        cluster.kubectl().run("delete", "pod", "copied", "-n", LAB, "--now").orFail();

        patiently("the timekeeper saw its end")
                .until(() -> installation.api().report(copied, forged(uid)) == 403);
        assertThat(refused("pod_not_alive")).isGreaterThan(before);
    }

    @Test
    @Order(6)
    void aPodWhoseSidecarIsKilledAgainAndAgainLosesNothing() {
        String name = alone("570", 50);
        for (int kills = 0; kills < 4; kills++) {
            long before = wall(known(name).path("use"));
            requireNonNull(SIDECARS.get(name)).kill();
            startSidecar("570", 50);
            patiently("it reports again after kill " + (kills + 1))
                    .until(() -> wall(known(name).path("use")) > before + 1_000_000);
        }

        Instant asked = Instant.now();
        JsonNode pod = known(name);
        Instant answered = Instant.now();

        // The ring of the driver fills the gaps: the time between two containers is covered, too.
        JsonNode use = pod.path("use");
        assertMeasured(use, 80);
        assertThat(use.path("uncoveredMicroseconds").asLong())
                .as("uncovered of %s", use)
                .isLessThan(wall(use) / 50);
        Instant from = Instant.parse(pod.path("from").asText());
        assertThat(pod.path("rate").asLong()).isEqualTo(500_000);
        assertThat(pod.path("charged").asLong())
                .isBetween(charge(from, asked), charge(from, answered));
    }

    /** Only an API server knows who may get an address that is no object's. */
    @Test
    @Order(7)
    void metricsThatNameBudgetsAreForWhoMayReadMetrics() {
        cluster.kubectl()
                .run("create", "serviceaccount", "prometheus", "--namespace=" + LAB)
                .orFail();
        TimekeeperApi collector = installation.api().as(LAB, "prometheus");
        assertThatThrownBy(() -> collector.text("/api/v1/metrics"))
                .hasMessageContaining("403")
                .hasMessageContaining("gpusharing-metrics-reader");

        cluster.kubectl()
                .run(
                        "create",
                        "clusterrolebinding",
                        "lab-metrics",
                        "--clusterrole=gpusharing-metrics-reader",
                        "--serviceaccount=" + LAB + ":prometheus")
                .orFail();

        patiently("metrics are read").untilAsserted(() -> collector.text("/api/v1/metrics"));
    }

    private static long charge(Instant from, Instant to) {
        return Duration.between(from, to).toMillis() * 500;
    }

    /** Within two percent of the GPU's time, which is what sampling can promise over seconds. */
    private static void assertMeasured(JsonNode use, int busyPercent) {
        double covered = use.path("coveredMicroseconds").asLong();

        assertThat((double) use.path("measured").asLong())
                .as("%d %% busy: %s", busyPercent, use)
                .isCloseTo(covered * busyPercent / 100, within(0.02 * covered));
    }

    /** The pod once a meter has watched it for long enough. */
    private static JsonNode watched(String name) {
        return patiently(name + " is watched")
                .until(() -> known(name), pod -> wall(pod.path("use")) >= ENOUGH_MICROS);
    }

    private static long wall(JsonNode use) {
        return use.path("coveredMicroseconds").asLong()
                + use.path("uncoveredMicroseconds").asLong();
    }

    private static JsonNode known(String name) {
        for (JsonNode pod : installation.api().get("/api/v1/usage/pods?namespace=" + LAB)) {
            if (pod.path("name").asText().equals(name)) {
                return pod;
            }
        }
        return MissingNode.getInstance();
    }

    private static ConditionFactory patiently(String what) {
        return await(what).atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(300));
    }

    /** How many reports were refused so, by the timekeeper's own metrics. */
    private static double refused(String reason) {
        try {
            var request =
                    HttpRequest.newBuilder(installation.timekeeper().health().resolve("/metrics"))
                            .build();
            String page =
                    HttpClient.newHttpClient()
                            .send(request, HttpResponse.BodyHandlers.ofString())
                            .body();
            return page.lines()
                    .filter(line -> line.startsWith("gpusharing_usage_reports_total"))
                    .filter(line -> line.contains("reason=\"" + reason + "\""))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' '))))
                    .sum();
        } catch (IOException e) {
            throw new AssertionError("no metrics", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String forged(String uid) {
        return """
        {"run": "%s", "sequence": 1, "meter": "Sidecar", "pods": [{"uid": "%s", "devices": [
          {"uuid": "GPU-0", "basis": "Process", "basisReason": "", "gpuMicroseconds": 0,
           "memoryByteSeconds": 0, "coveredMicroseconds": 0, "uncoveredMicroseconds": 0}]}]}
        """
                .formatted(UUID.randomUUID(), uid);
    }

    private static String token(String namespace, String pod) {
        return cluster.kubectl()
                .run(
                        "create",
                        "token",
                        "default",
                        "--namespace=" + namespace,
                        "--audience=gpusharing-timekeeper",
                        "--bound-object-kind=Pod",
                        "--bound-object-name=" + pod,
                        "--bound-object-uid=" + uid(pod))
                .orFail();
    }

    private static String uid(String pod) {
        return requireNonNull(PODS.get(pod), pod).getMetadata().getUid();
    }

    /** Its own process is the pod's; the others on the GPU are not. */
    private static void startSidecar(String generation, int share) {
        String name = alone(generation, share);
        var scenario = new ArrayList<String>();
        scenario.add("driver " + DRIVERS.get(generation));
        scenario.add("view shared");
        scenario.add("device GPU-" + generation);
        for (var load : LOADS.entrySet()) {
            int pid = load.getKey() == share ? 17 : 0;
            scenario.add(
                    "process pod=%d host=%d busy=%d%%"
                            .formatted(pid, 4000 + load.getKey(), load.getValue()));
        }
        SIDECARS.put(
                name,
                InjectedSidecar.start(
                        cluster,
                        requireNonNull(PODS.get(name)),
                        REPORTING_OFTEN,
                        scenario.toArray(String[]::new)));
    }

    private static void startAgent(String generation) throws IOException {
        String node = agentNode(generation);
        Pod pod =
                patiently("the DaemonSet has a pod on " + node)
                        .until(() -> NodeAgent.podOn(cluster, node), found -> found.isPresent())
                        .orElseThrow();
        var scenario = new ArrayList<String>();
        scenario.add("driver " + DRIVERS.get(generation));
        scenario.add("view host");
        scenario.add("device GPU-" + generation + "-agent");
        for (var load : LOADS.entrySet()) {
            scenario.add(
                    "process host=%d uid=%s busy=%d%%"
                            .formatted(
                                    4000 + load.getKey(),
                                    uid(agents(generation, load.getKey())),
                                    load.getValue()));
        }
        if (generation.equals("570")) {
            scenario.add("process host=4999 uid=" + uid("miner") + " busy=5%");
        }
        Path kubelet = kubeletFiles(generation);
        var environment = new HashMap<>(REPORTING_OFTEN);
        environment.put("GPUSHARING_KUBELET_CHECKPOINT", kubelet.resolve("checkpoint").toString());
        environment.put("GPUSHARING_POD_LOGS", kubelet.resolve("pods").toString());
        NodeAgent.start(cluster, installation, pod, environment, scenario.toArray(String[]::new));
    }

    /** What a kubelet would have left on the node: whom it gave devices, and a folder per pod. */
    private static Path kubeletFiles(String generation) throws IOException {
        Path folder = cluster.dir().resolve("run/kubelet-" + generation);
        var names = new ArrayList<String>();
        LOADS.keySet().forEach(share -> names.add(agents(generation, share)));
        String grants =
                names.stream()
                        .map(name ->
                                """
                                {"PodUID":"%s","ContainerName":"cuda",
                                 "ResourceName":"tencent.com/vcuda-core",
                                 "DeviceIDs":{"-1":["tencent.com/vcuda-core-7"]}}\
                                """
                                        .formatted(uid(name)))
                        .collect(
                                Collectors.joining(
                                        ",", "{\"Data\":{\"PodDeviceEntries\":[", "]}}"));
        names.add("miner");
        for (String name : names) {
            Files.createDirectories(folder.resolve("pods/" + LAB + "_" + name + "_" + uid(name)));
        }
        Files.writeString(folder.resolve("checkpoint"), grants);
        return folder;
    }

    private static String alone(String generation, int share) {
        return "alone-" + generation + "-" + share;
    }

    private static String agents(String generation, int share) {
        return "agents-" + generation + "-" + share;
    }

    /** The workshop's nodes have two GPUs each. */
    private static String aloneNode(String generation) {
        return List.of("535", "550").contains(generation) ? "gpu-node-1" : "gpu-node-2";
    }

    private static String agentNode(String generation) {
        return "agent-node-" + generation;
    }

    private static String node(String name) {
        return """
        apiVersion: v1
        kind: Node
        metadata:
          name: %1$s
          annotations: {kwok.x-k8s.io/node: fake}
          labels: {kubernetes.io/hostname: %1$s, nvidia.com/gpu.present: "true"}
        status:
          capacity: &amounts {cpu: "32", memory: 256Gi, pods: "110", tencent.com/vcuda-core: "200", tencent.com/vcuda-memory: "120"}
          allocatable: *amounts
        """
                .formatted(name);
    }

    private static String pod(String name, String node, int share) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          nodeSelector: {kubernetes.io/hostname: %s}
          containers:
          - name: cuda
            image: cuda
            resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: 15}}
        """
                .formatted(name, node, share);
    }

    private static String podWithoutGpu(String name, String node) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          nodeSelector: {kubernetes.io/hostname: %s}
          containers: [{name: miner, image: miner}]
        """
                .formatted(name, node);
    }
}

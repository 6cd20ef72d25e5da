package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.UsualInstallation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Whole GPUs, which NVIDIA's device plugin allocates without us, with the chart's defaults: the
 * values do not name their resource. The test writes the nodes, and nothing simulates them.
 */
@ExtendWith(UsualInstallation.OfTheRun.class)
class WholeGpusIT {

    private static final String TEAM = "team-with-a-budget";
    private static final String OTHERS = "no-budget-here";

    private static Installation installation;
    private static Ledger ledger;
    private static Api api;

    @BeforeAll
    static void start(UsualInstallation usual) {
        TestCluster cluster = usual.cluster();
        installation = usual.installation();
        ledger = Ledger.of(cluster, installation);
        api = new Api(cluster.client());
        cluster.createNamespace(TEAM);
        cluster.createNamespace(OTHERS);
        node("nvidias", "{}", "{gpu: nvidia, nvidia.com/gpu.replicas: '1'}");
        node(
                "hamis",
                "{hami.io/node-nvidia-register: 'GPU-0,10,16384,100,A16,0,true:'}",
                "{gpu: hami}");
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team}, spec: {namespaces: [%s], gpuMinutes: '10000'}}"
                                .formatted(TEAM))
                .orFail();
        await("the webhook knows the budget")
                .atMost(Duration.ofSeconds(30))
                .until(() ->
                        !annotation(
                                        api.dryRun(TEAM, pod("first", "nvidia.com/gpu: 1"))
                                                .orFail(),
                                        "budget")
                                .isMissingNode());
    }

    private static void node(String name, String annotations, String labels) {
        node(name, annotations, labels, "nvidia.com/gpu: 20, nvidia.com/gpumem: 16384");
    }

    private static void node(String name, String annotations, String labels, String devices) {
        String amounts = "{cpu: 64, memory: 256Gi, pods: 110, %s}".formatted(devices);
        api.create(
                        "",
                        "{apiVersion: v1, kind: Node, metadata: {name: %s, annotations: %s, labels: %s}}"
                                .formatted(name, annotations, labels))
                .orFail();
        api.merge(
                        "/api/v1/nodes/" + name + "/status",
                        "{status: {capacity: %s, allocatable: %1$s}}".formatted(amounts))
                .orFail();
    }

    @Test
    void aTeamPaysForThemByItsBudget() {
        JsonNode pod = api.create(TEAM, pod("paid", "nvidia.com/gpu: 2")).orFail();

        assertThat(annotation(pod, "budget").asText()).isEqualTo("team");
        assertThat(pod.at("/spec/priorityClassName").asText()).isEqualTo("gpu-in-budget");
        assertThat(pod.at("/spec/initContainers/0/name").asText()).isEqualTo("gpusharing-sidecar");
        assertThat(charge("paid").rate()).isEqualTo(2_000_000);
    }

    @Test
    void aPartOfOneIsReadAsHamiReadsIt() {
        api.create(TEAM, pod("part", "nvidia.com/gpumem: 4096")).orFail();

        assertThat(charge("part").rate()).isEqualTo(250_000);
    }

    /** Nodes as NVIDIA's device plugin and gpu-feature-discovery describe an H200 that is split. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    mixed  | nvidia.com/mig-1g.18gb: 7 | {nvidia.com/mig.strategy: mixed, nvidia.com/gpu.product: NVIDIA-H200, nvidia.com/gpu.replicas: '0', nvidia.com/mig-1g.18gb.product: NVIDIA-H200-MIG-1g.18gb, nvidia.com/mig-1g.18gb.replicas: '1'}
                    single | nvidia.com/gpu: 7         | {nvidia.com/mig.strategy: single, nvidia.com/gpu.product: NVIDIA-H200-MIG-1g.18gb, nvidia.com/gpu.replicas: '1'}
                    """)
    void sevenPodsOnSevenInstancesByMigPayASeventhEach(
            String strategy, String devices, String labels) throws IOException {
        // New, for a node that nobody runs is tainted after a while.
        node(strategy, "{}", labels, devices);
        Path example = Repository.root().resolve("examples/mig-%s.yaml".formatted(strategy));

        api.create(TEAM, Files.readString(example)).orFail();

        await("all seven are charged")
                .atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> {
                    Map<String, Ledger.AllocationInterval> charges =
                            new TreeMap<>(ledger.allocations(TEAM));
                    charges.keySet().removeIf(pod -> !pod.startsWith("slices-" + strategy));
                    assertThat(charges.values())
                            .hasSize(7)
                            .extracting(Ledger.AllocationInterval::rate)
                            .containsOnly(142_857L);
                });
    }

    @Test
    void whereNoBudgetPaysNothingButTheLabelIsAdded() {
        JsonNode pod = api.create(OTHERS, pod("unpaid", "nvidia.com/gpu: 1")).orFail();

        assertThat(pod.at("/metadata/labels/gpusharing.io~1metered").asText()).isEqualTo("true");
        assertThat(pod.at("/metadata/annotations").isMissingNode()).isTrue();
        assertThat(pod.at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(pod.at("/spec/priorityClassName").isMissingNode()).isTrue();
    }

    @Test
    void theyDoNotWaitForUsAndAreChargedFromTheirBindingAllTheSame() {
        installation.webhook().program().kill();
        try {
            assertThat(api.create(TEAM, pod("fraction", "nvidia.com/gpumem: 4096")).code())
                    .isEqualTo(500);
            JsonNode pod = api.create(TEAM, pod("slipped-by", "nvidia.com/gpu: 1")).orFail();

            assertThat(pod.at("/metadata/labels").isMissingNode()).isTrue();
            Ledger.AllocationInterval charge = charge("slipped-by");
            assertThat(charge.rate()).isEqualTo(1_000_000);
            assertThat(charge.since()).isEqualTo(boundAt("slipped-by"));
        } finally {
            installation.webhook().restart();
            installation.webhook().awaitReady();
            installation.awaitAdmission();
        }
    }

    private static Ledger.AllocationInterval charge(String pod) {
        return await(pod + " is charged")
                .atMost(Duration.ofSeconds(60))
                .until(() -> ledger.allocations(TEAM).get(pod), it -> it != null);
    }

    private static Instant boundAt(String pod) {
        JsonNode scheduled = Api.condition(api.get(Api.pod(TEAM, pod)).orFail(), "PodScheduled");
        return Instant.parse(scheduled.path("lastTransitionTime").asText());
    }

    private static JsonNode annotation(JsonNode pod, String key) {
        return pod.at("/metadata/annotations/gpusharing.io~1" + key);
    }

    private static String pod(String name, String limits) {
        String node = limits.contains("gpumem") ? "{gpu: hami}" : "{gpu: nvidia}";
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          nodeSelector: %s
          tolerations: [{operator: Exists}]
          containers:
          - name: cuda
            image: cuda
            resources: {limits: {%s}}
        """
                .formatted(name, node, limits);
    }
}

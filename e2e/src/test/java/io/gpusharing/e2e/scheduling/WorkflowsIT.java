package io.gpusharing.e2e.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.ArgoWorkflows;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.SimulatedDevicePlugin;
import io.gpusharing.e2e.story.Ledger;
import io.gpusharing.e2e.story.Ledger.AllocationInterval;
import io.gpusharing.e2e.story.Team;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Workflows by the real controller of Argo Workflows, on a node of two GPUs that are shared and one
 * of a GPU that is split by MIG. API server, schedulers and our services are real; the nodes and
 * what runs in containers are simulated.
 */
@Tag("workflows")
class WorkflowsIT {

    private static final String TEAM = "team-a";
    private static final String NODE = "gpu-node-1";
    private static final Duration SOON = Duration.ofSeconds(60);

    /** From a step's end until its GPU is given to who waits for it. */
    private static final Duration AT_ONCE = Duration.ofSeconds(10);

    private static TestCluster cluster;
    private static ArgoWorkflows argo;
    private static Ledger ledger;
    private static Api tenant;
    private static PlacedPods others;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/workflows"));
        Installation installation =
                Installation.on(cluster, Map.of("GPUSHARING_SWEEP_EVERY", "1s"));
        ledger = Ledger.of(cluster, installation);
        var api = new Api(cluster.client());
        argo = ArgoWorkflows.on(cluster);
        tenant = Team.create(cluster, api, TEAM);
        others = new PlacedPods(cluster, "others");
        cluster.kubectl().run("delete", "node", "gpu-node-2").orFail();
        cluster.kubectl().run("label", "node", NODE, "gpusharing.io/gpus=shared").orFail();
        SimulatedDevicePlugin.describe(cluster, NODE, 2);
        PlacingScheduler.installed(cluster);
        nodeSplitByMig(api);
        await("pods of the team get our scheduler and its budget")
                .atMost(SOON)
                .untilAsserted(() -> {
                    var pod =
                            tenant.dryRun(
                                            TEAM,
                                            others.manifest("probe", 50, 1)
                                                    .replace(
                                                            "schedulerName: gpusharing-scheduler",
                                                            "restartPolicy: Never")
                                                    .replace(
                                                            "namespace: others",
                                                            "namespace: " + TEAM))
                                    .orFail();
                    assertThat(pod.at("/spec/schedulerName").asText())
                            .isEqualTo("gpusharing-scheduler");
                    assertThat(pod.at("/metadata/annotations/gpusharing.io~1budget").asText())
                            .isEqualTo(TEAM);
                });
    }

    /** As NVIDIA's device plugin and gpu-feature-discovery describe an H200. */
    private static void nodeSplitByMig(Api api) {
        api.create(
                        "",
                        """
                        apiVersion: v1
                        kind: Node
                        metadata:
                          name: mig
                          annotations: {kwok.x-k8s.io/node: fake}
                          labels:
                            nvidia.com/mig.strategy: mixed
                            nvidia.com/gpu.product: NVIDIA-H200
                            nvidia.com/gpu.replicas: '0'
                            nvidia.com/mig-1g.18gb.product: NVIDIA-H200-MIG-1g.18gb
                            nvidia.com/mig-1g.18gb.replicas: '1'
                        """)
                .orFail();
        api.merge(
                        "/api/v1/nodes/mig/status",
                        "{status: {capacity: %s, allocatable: %1$s}}"
                                .formatted(
                                        "{cpu: 64, memory: 256Gi, pods: 110, nvidia.com/mig-1g.18gb: 7}"))
                .orFail();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @AfterEach
    void deleteAll() {
        cluster.kubectl().run("delete", "workflows", "--all", "--namespace=" + TEAM).orFail();
        cluster.kubectl()
                .run("delete", "pods", "--all", "--namespace=" + TEAM, "--timeout=60s")
                .orFail();
        others.deleteAll();
    }

    @Test
    void stepsOneAfterTheOtherAndAtTheSameTimeAreOnOneGpuWhileOneOfThemRunsThroughout() {
        SubmittedWorkflow distill = submit(example("workflow.yaml"));
        String gpu = distill.gpuOf("teacher");
        elsewhere(40, gpu);

        // Without the group each of them would go beside the other pod, where less is left.
        assertThat(distill.gpuOf("prepare")).isEqualTo(gpu);
        distill.end("prepare", 0);
        assertThat(distill.gpuOf("train")).isEqualTo(gpu);
        assertThat(distill.gpuOf("evaluate")).isEqualTo(gpu);

        assertThat(rates(distill, 4))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(
                                "teacher", 200_000L,
                                "prepare", 500_000L,
                                "train", 500_000L,
                                "evaluate", 250_000L));
        distill.end("train", 0);
        distill.end("evaluate", 0);
        endAsTold(distill, "teacher");
        distill.awaitPhase("Succeeded");
        awaitNobodyCharged();
    }

    @Test
    void betweenTwoStepsNobodyRunsSoThatTheNextOneMayGoToAnotherGpu() {
        SubmittedWorkflow pair = submit(oneAfterTheOther());
        String gpu = pair.gpuOf("first");
        elsewhere(40, gpu);

        pair.end("first", 0);

        assertThat(pair.gpuOf("second")).isNotEqualTo(gpu);
    }

    /** How a step may end before its time. */
    enum Ending {
        FAILURE {
            @Override
            void of(SubmittedWorkflow workflow) {
                workflow.end("train", 1);
                workflow.awaitPhase("Failed");
            }
        },
        STOP {
            @Override
            void of(SubmittedWorkflow workflow) {
                workflow.shutDown(tenant, "Stop");
                endAsTold(workflow, "train");
                workflow.awaitPhase("Failed");
            }
        },
        TERMINATION {
            @Override
            void of(SubmittedWorkflow workflow) {
                workflow.shutDown(tenant, "Terminate");
                endAsTold(workflow, "train");
                workflow.awaitPhase("Failed");
            }
        },
        DELETION_OF_ITS_POD {
            @Override
            void of(SubmittedWorkflow workflow) {
                deletePod(workflow, "train");
                workflow.awaitPhase("Failed");
            }
        },
        DELETION_OF_THE_WORKFLOW {
            @Override
            void of(SubmittedWorkflow workflow) {
                workflow.delete(tenant);
            }
        };

        abstract void of(SubmittedWorkflow workflow);
    }

    @ParameterizedTest
    @EnumSource
    void howeverAStepEndsItsGpuIsGivenToWhoWaitsForIt(Ending ending) {
        SubmittedWorkflow workflow =
                submit(single("tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 8"));
        String gpu = workflow.gpuOf("train");
        wholeGpuIsWanted();

        ending.of(workflow);

        await("the GPU is given away")
                .atMost(AT_ONCE)
                .untilAsserted(() -> assertThat(others.gpuOf("waits")).isEqualTo(gpu));
    }

    @Test
    void aStepThatIsTriedAgainJoinsItsGroup() {
        SubmittedWorkflow retried = submit(retried());
        String gpu = retried.gpuOf("evaluate");
        assertThat(retried.gpuOf("train(0)")).isEqualTo(gpu);
        elsewhere(50, gpu);

        retried.end("train(0)", 1);

        assertThat(retried.gpuOf("train(1)")).isEqualTo(gpu);
        deletePod(retried, "train(1)");

        assertThat(retried.gpuOf("train(2)")).isEqualTo(gpu);
        others.deleteAll();
        wholeGpuIsWanted();
        retried.end("train(2)", 0);
        retried.end("evaluate", 0);
        retried.awaitPhase("Succeeded");
        await("the GPU is given away")
                .atMost(AT_ONCE)
                .untilAsserted(() -> assertThat(others.gpuOf("waits")).isEqualTo(gpu));
    }

    @Test
    void twoGpusAreNotSharedByStepsAndTheWorkflowSaysWhatToDo() {
        SubmittedWorkflow workflow = submit(single("tencent.com/vcuda-core: 200"));

        workflow.awaitPhase("Failed");
        assertThat(workflow.messages())
                .anySatisfy(message ->
                        assertThat(message)
                                .contains(
                                        "request.gpusharing.io/same-gpu is for pods in which one container asks for a part of one GPU",
                                        "whatever needs several together belongs into one pod"));
        assertThat(workflow.pods()).isEmpty();
    }

    @Test
    void sevenStepsAtOnceOnTheInstancesOfAGpuPayASeventhEach() {
        SubmittedWorkflow sweep = submit(example("workflow-mig.yaml"));
        List<String> steps =
                IntStream.range(0, 7).mapToObj(seed -> "train(%d:%1$d)".formatted(seed)).toList();

        assertThat(steps)
                .allSatisfy(step ->
                        assertThat(sweep.running(step).getSpec().getNodeName()).isEqualTo("mig"));

        assertThat(rates(sweep, 7).values()).hasSize(7).containsOnly(142_857L);
        steps.forEach(step -> sweep.end(step, 0));
        sweep.awaitPhase("Succeeded");
        awaitNobodyCharged();
    }

    private static SubmittedWorkflow submit(String manifest) {
        return SubmittedWorkflow.submit(cluster, tenant, TEAM, manifest);
    }

    private static String example(String file) {
        try {
            return Files.readString(Repository.root().resolve("examples").resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A pod of others on the other GPU, beside which a step would be placed without its group. */
    private static void elsewhere(int core, String gpu) {
        others.createSpread("elsewhere", core);
        await("it is bound").atMost(SOON).until(() -> others.gpuOf("elsewhere") != null);
        assertThat(others.gpuOf("elsewhere")).isNotEqualTo(gpu);
    }

    /** Two pods want a whole GPU each, and one of them waits for that of the workflow. */
    private static void wholeGpuIsWanted() {
        others.create("runs", 100, 0);
        await("one finds a GPU").atMost(SOON).until(() -> others.gpuOf("runs") != null);
        others.create("waits", 100, 0);
        await("the other waits")
                .atMost(SOON)
                .until(() -> others.whyItWaits("waits").contains("nodes are available"));
    }

    /** As an eviction does, too. */
    private static void deletePod(SubmittedWorkflow workflow, String step) {
        String pod = workflow.running(step).getMetadata().getName();
        // One that is gone before Argo has seen it run is made anew.
        workflow.awaitSeenRunning(step);
        tenant.delete(Api.pod(TEAM, pod)).orFail();
    }

    /** On a simulated node nobody else does what Argo says. */
    private static void endAsTold(SubmittedWorkflow workflow, String step) {
        String pod = workflow.running(step).getMetadata().getName();
        await("Argo tells it to end").atMost(SOON).until(() -> argo.hasToldToEnd(pod));
        // SIGTERM
        workflow.end(step, 143);
    }

    /** Micro-GPUs of each step, once that many are charged. */
    private static Map<String, Long> rates(SubmittedWorkflow workflow, int steps) {
        return await("all are charged")
                .atMost(SOON)
                .until(
                        () -> {
                            Map<String, AllocationInterval> charged = ledger.allocations(TEAM);
                            var rates = new TreeMap<String, Long>();
                            for (Pod pod : workflow.pods()) {
                                AllocationInterval charge =
                                        charged.get(pod.getMetadata().getName());
                                if (charge != null) {
                                    rates.put(SubmittedWorkflow.stepOf(pod), charge.rate());
                                }
                            }
                            return rates;
                        },
                        rates -> rates.size() == steps);
    }

    private static void awaitNobodyCharged() {
        others.deleteAll();
        await("all charges have ended").atMost(SOON).until(() -> ledger.open() == 0);
    }

    private static String oneAfterTheOther() {
        return grouped(
                """
                    - name: workflow
                      steps:
                        - - {name: first, template: step}
                        - - {name: second, template: step}
                    - name: step
                      container: {image: cuda, command: [train], resources: {limits: {tencent.com/vcuda-core: 30, tencent.com/vcuda-memory: 8}}}
                """);
    }

    private static String single(String limits) {
        return grouped(
                """
                    - name: workflow
                      steps: [[{name: train, template: train}]]
                    - name: train
                      container: {image: cuda, command: [train], resources: {limits: {%s}}}
                """
                        .formatted(limits));
    }

    /** The parts are parameters, which Argo puts into the pod last of all. */
    private static String retried() {
        String step =
                """
                      inputs: {parameters: [{name: core}]}
                      container: {image: cuda, command: [train]}
                      podSpecPatch: '{"containers": [{"name": "main", "resources": {"limits": {"tencent.com/vcuda-core": "{{inputs.parameters.core}}", "tencent.com/vcuda-memory": "8"}}}]}'
                """;
        return grouped(
                """
                    - name: workflow
                      steps:
                        - - {name: evaluate, template: step, arguments: {parameters: [{name: core, value: '25'}]}}
                          - {name: train, template: retried, arguments: {parameters: [{name: core, value: '40'}]}}
                    - name: step
                %1$s
                    - name: retried
                      retryStrategy: {limit: 2, retryPolicy: Always}
                %1$s
                """
                        .formatted(step));
    }

    private static String grouped(String templates) {
        return """
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        metadata: {generateName: workflow-}
        spec:
          entrypoint: workflow
          podMetadata: {annotations: {request.gpusharing.io/same-gpu: '{{workflow.uid}}'}}
          templates:
        """
                + templates;
    }
}

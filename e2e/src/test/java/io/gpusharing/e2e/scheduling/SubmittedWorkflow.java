package io.gpusharing.e2e.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A workflow of a tenant. The test has the parts of the kubelet and of Argo's executor: it says
 * when a step's containers end, and how.
 */
final class SubmittedWorkflow {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String ARGO = "argoproj.io/v1alpha1";
    private static final String PREFIX = "workflows.argoproj.io/";

    private final TestCluster cluster;
    private final String namespace;
    private final String name;

    private SubmittedWorkflow(TestCluster cluster, String namespace, String name) {
        this.cluster = cluster;
        this.namespace = namespace;
        this.name = name;
    }

    static SubmittedWorkflow submit(
            TestCluster cluster, Api tenant, String namespace, String manifest) {
        ObjectNode workflow = tenant.create(namespace, manifest).orFail();
        return new SubmittedWorkflow(cluster, namespace, workflow.at("/metadata/name").asText());
    }

    /** All of its pods, those that have ended included. */
    List<Pod> pods() {
        return cluster.client()
                .pods()
                .inNamespace(namespace)
                .withLabel(PREFIX + "workflow", name)
                .list()
                .getItems();
    }

    /**
     * The pod of a step, once it runs.
     *
     * @param step with the number of the attempt, {@code train(0)}, where it may be retried
     */
    Pod running(String step) {
        return await("%s of %s runs".formatted(step, name))
                .atMost(SOON)
                .until(
                        () -> podOf(step).filter(SubmittedWorkflow::runs),
                        (Optional<Pod> pod) -> pod.isPresent())
                .orElseThrow();
    }

    private Optional<Pod> podOf(String step) {
        return pods().stream().filter(pod -> stepOf(pod).equals(step)).findFirst();
    }

    private static boolean runs(Pod pod) {
        return "Running".equals(pod.getStatus().getPhase());
    }

    /** Argo calls its nodes {@code WORKFLOW[0].STEP}. */
    static String stepOf(Pod pod) {
        String node = pod.getMetadata().getAnnotations().getOrDefault(PREFIX + "node-name", "");
        return node.substring(node.lastIndexOf('.') + 1);
    }

    /** The GPU that a step was placed on, once it runs. */
    String gpuOf(String step) {
        Pod pod = running(step);
        String placement =
                pod.getMetadata().getAnnotations().getOrDefault("gpusharing.io/placement", "");
        assertThat(placement).startsWith(pod.getMetadata().getUid() + ";main=");
        return placement.substring(placement.indexOf('=') + 1);
    }

    /**
     * Ends the containers of a step that runs.
     *
     * @param exitCode of its main container
     */
    void end(String step, int exitCode) {
        Pod pod = running(step);
        reportOutputs(pod);
        cluster.client()
                .pods()
                .inNamespace(namespace)
                .withName(pod.getMetadata().getName())
                .editStatus(ended(exitCode));
    }

    /** What Argo's wait container writes before it ends. */
    private void reportOutputs(Pod pod) {
        new Api(cluster.client())
                .create(
                        namespace,
                        "{apiVersion: %1$s, kind: WorkflowTaskResult, metadata: {name: %2$s, labels: {%3$sworkflow: %4$s, %3$sreport-outputs-completed: 'true'}}}"
                                .formatted(
                                        ARGO,
                                        pod.getMetadata().getAnnotations().get(PREFIX + "node-id"),
                                        PREFIX,
                                        name))
                .orFail();
    }

    private static UnaryOperator<Pod> ended(int exitCode) {
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        return pod ->
                new PodBuilder(pod)
                        .editStatus()
                        .withPhase(exitCode == 0 ? "Succeeded" : "Failed")
                        .withConditions(
                                pod.getStatus().getConditions().stream()
                                        .map(condition -> ended(condition, exitCode, now))
                                        .toList())
                        .withInitContainerStatuses(
                                pod.getStatus().getInitContainerStatuses().stream()
                                        .map(container -> ended(container, 0, now))
                                        .toList())
                        .withContainerStatuses(
                                pod.getStatus().getContainerStatuses().stream()
                                        .map(container ->
                                                ended(
                                                        container,
                                                        container.getName().equals("main")
                                                                ? exitCode
                                                                : 0,
                                                        now))
                                        .toList())
                        .endStatus()
                        .build();
    }

    private static PodCondition ended(PodCondition condition, int exitCode, String now) {
        return List.of("Ready", "ContainersReady").contains(condition.getType())
                ? new PodConditionBuilder(condition)
                        .withStatus("False")
                        .withReason(exitCode == 0 ? "PodCompleted" : "PodFailed")
                        .withLastTransitionTime(now)
                        .build()
                : condition;
    }

    private static ContainerStatus ended(ContainerStatus container, int exitCode, String now) {
        return container.getState().getRunning() == null
                ? container
                : new ContainerStatusBuilder(container)
                        .withReady(false)
                        .withStarted(false)
                        .withNewState()
                        .withNewTerminated()
                        .withExitCode(exitCode)
                        .withReason(exitCode == 0 ? "Completed" : "Error")
                        .withStartedAt(container.getState().getRunning().getStartedAt())
                        .withFinishedAt(now)
                        .endTerminated()
                        .endState()
                        .build();
    }

    /**
     * Asks Argo to end it early, as {@code argo stop} and {@code argo terminate} do.
     *
     * @param strategy {@code Stop} or {@code Terminate}
     */
    void shutDown(Api tenant, String strategy) {
        tenant.merge(path(), "{spec: {shutdown: %s}}".formatted(strategy)).orFail();
    }

    void delete(Api tenant) {
        tenant.delete(path()).orFail();
    }

    /** Waits until Argo says how it ended. */
    void awaitPhase(String phase) {
        await("%s has %s".formatted(name, phase))
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(status().path("phase").asText())
                                .as(status().toPrettyString())
                                .isEqualTo(phase));
    }

    /** Waits until Argo itself says that a step runs. */
    void awaitSeenRunning(String step) {
        await("Argo has seen %s run".formatted(step))
                .atMost(SOON)
                .until(() ->
                        nodes().anyMatch(node ->
                                node.path("displayName").asText().equals(step)
                                        && node.path("phase").asText().equals("Running")));
    }

    /** What Argo says of its steps. */
    List<String> messages() {
        return nodes().map(node -> node.path("message").asText()).toList();
    }

    private Stream<JsonNode> nodes() {
        return StreamSupport.stream(status().path("nodes").spliterator(), false);
    }

    private JsonNode status() {
        return new Api(cluster.client()).get(path()).orFail().path("status");
    }

    private String path() {
        return Api.collection(namespace, ARGO, "Workflow") + "/" + name;
    }
}

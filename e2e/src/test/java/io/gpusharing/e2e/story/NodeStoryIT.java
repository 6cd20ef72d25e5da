package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The demo's story with real containers on real nodes, and what only a kubelet and a Service show;
 * afterwards the bill.
 */
@Tag("node")
@Order(1)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(RealNodes.OfTheRun.class)
class NodeStoryIT {

    private static final String TEAM = "lives";
    private static final String SPENT = "spent";

    /** Two cores run two nodes, and all that is on them. */
    private static final Duration SOON = Duration.ofMinutes(3);

    private static TestCluster cluster;
    private static InClusterInstallation services;
    private static Api api;
    private static Api tenant;
    private static Ledger ledger;

    @BeforeAll
    static void start(RealNodes nodes) {
        cluster = nodes.cluster();
        services = nodes.installation();
        api = nodes.api();
        ledger = nodes.ledger();
        tenant = Team.create(cluster, api, TEAM);
        // It waits while the story runs.
        api.create(TEAM, pod("patient", "{example.com/place: here}", 1, "sleep 1000")).orFail();
    }

    @Test
    @Order(1)
    void theDemoRunsWithRealContainers() {
        new Story(cluster, services, Narrator.silent()).whole();
        for (String team : new String[] {"team-a", "team-b"}) {
            cluster.kubectl().run("delete", "pods", "--all", "--namespace=" + team).orFail();
        }
    }

    /**
     * The story needs what evicts, and no kube-scheduler of ours, which is given the API server's
     * version first.
     */
    @Test
    @Order(2)
    void meanwhileOurSchedulerIsThereToo() {
        services.awaitScheduler();
    }

    @Test
    @Order(3)
    void aPodThatWaitedForMoreThanHalfAMinutePaysFromItsBinding() {
        cluster.kubectl().run("label", "nodes", "--all", "example.com/place=here").orFail();
        awaitRunning("patient");

        JsonNode pod = api.get(Api.pod(TEAM, "patient")).orFail();
        Instant created = Instant.parse(pod.at("/metadata/creationTimestamp").asText());
        Instant bound = boundAt(pod);
        assertThat(Duration.between(created, bound)).isGreaterThan(Duration.ofSeconds(30));
        assertThat(charge("patient").since()).isEqualTo(bound);
    }

    @Test
    @Order(4)
    void theMetersEndIsNoFailureOfTheJob() {
        api.create(
                        TEAM,
                        """
                        apiVersion: batch/v1
                        kind: Job
                        metadata: {name: judged}
                        spec:
                          backoffLimit: 0
                          podFailurePolicy:
                            rules: [{action: FailJob, onExitCodes: {operator: NotIn, values: [42]}}]
                          template:
                            spec:
                              restartPolicy: Never
                              containers: [%s]
                        """
                                .formatted(container("sleep 2; exit 42")))
                .orFail();

        JsonNode failed =
                await("the job has failed")
                        .atMost(SOON)
                        .until(
                                () ->
                                        Api.condition(
                                                api.get(
                                                                "/apis/batch/v1/namespaces/%s/jobs/judged"
                                                                        .formatted(TEAM))
                                                        .orFail(),
                                                "Failed"),
                                it -> !it.isMissingNode());

        JsonNode status =
                api.get("/api/v1/namespaces/%s/pods?labelSelector=job-name=judged".formatted(TEAM))
                        .orFail()
                        .at("/items/0/status");
        assertThat(status.at("/initContainerStatuses/0/state/terminated/exitCode").asInt(-1))
                .as("the meter's end: %s", status)
                .isZero();
        assertThat(failed.path("reason").asText())
                .as("by its own exit code, which the policy lets count: %s", failed)
                .isEqualTo("BackoffLimitExceeded");
    }

    @Test
    @Order(5)
    void aPodDeletedWithAnHoursGraceIsChargedUntilItEnds() {
        api.create(
                        TEAM,
                        pod("lingers", "{}", 31_536_000, "trap '' TERM; while :; do sleep 1; done"))
                .orFail();
        awaitRunning("lingers");
        String path = Api.pod(TEAM, "lingers");
        assertThat(tenant.delete(path).code()).as("by the year of its spec").isEqualTo(403);
        assertThat(tenant.delete(path + "?gracePeriodSeconds=3600").accepted()).isTrue();

        for (String change :
                List.of(
                        "{metadata: {labels: {gpusharing.io/metered: null}}}",
                        "{metadata: {annotations: {gpusharing.io/sidecar: cuda}}}")) {
            assertThat(tenant.merge(path, change).code()).as(change).isEqualTo(403);
        }
        assertThat(tenant.delete(path + "?gracePeriodSeconds=0").code()).isEqualTo(403);
        assertThat(charge("lingers").until()).isEmpty();
        // A kubelet that ends a container with one grace takes no shorter one any more.
        cluster.kubectl()
                .run(
                        "delete",
                        "pod",
                        "lingers",
                        "--namespace=" + TEAM,
                        "--grace-period=0",
                        "--force")
                .orFail();
    }

    /** Its own grace is an hour, and it ignores the signal. */
    @Test
    @Order(6)
    void reclaimGivesAPodOverItsBudgetNoMoreTimeThanItMay() {
        cluster.createNamespace(SPENT);
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '0.2', onExhausted: Reclaim, minimumRunTime: 2s}}"
                                .formatted(SPENT))
                .orFail();
        String node = nodeWithout("patient");
        api.create(SPENT, bothGpus("stubborn", node, 3600)).orFail();
        JsonNode stubborn = awaitRunning(SPENT, "stubborn");

        api.create(TEAM, bothGpus("waits", node, 5)).orFail();
        JsonNode waits = awaitRunning(TEAM, "waits");

        Ledger.AllocationInterval charge = charge(SPENT, "stubborn");
        assertThat(charge.since()).isEqualTo(boundAt(stubborn));
        assertThat(charge.ended())
                .as("its containers had ended when the other was bound")
                .isBeforeOrEqualTo(boundAt(waits));
    }

    private static String nodeWithout(String pod) {
        String taken = api.get(Api.pod(TEAM, pod)).orFail().at("/spec/nodeName").asText();
        for (JsonNode node : api.get("/api/v1/nodes").orFail().path("items")) {
            String name = node.at("/metadata/name").asText();
            if (!name.equals(taken)) {
                return name;
            }
        }
        throw new IllegalStateException("only " + taken + " is there");
    }

    /** All that a node of the rig has. */
    private static String bothGpus(String name, String node, int grace) {
        return pod(
                        name,
                        "{kubernetes.io/hostname: %s}".formatted(node),
                        grace,
                        "trap '' TERM; while :; do sleep 1; done")
                .replace(
                        "tencent.com/vcuda-core: 10, tencent.com/vcuda-memory: 1",
                        "tencent.com/vcuda-core: 200");
    }

    /**
     * As one sequential client behind the Service sees it: no connection ends with an answer due.
     * It asks without a break while a replica ends, and leaves the processors to those that start.
     */
    @Test
    @Order(7)
    void aRolloutOfTheWebhookLosesNoRequest() throws InterruptedException {
        var problems = new ArrayList<String>();
        var asked = new AtomicInteger();
        var open = new AtomicBoolean(true);
        SharedIndexInformer<Pod> replicas = services.informOnWebhooks();
        Thread client =
                Thread.ofVirtual()
                        .start(() -> {
                            while (open.get()) {
                                Api.Answer answer =
                                        api.dryRun(TEAM, pod("asks", "{}", 30, "sleep 1"));
                                asked.incrementAndGet();
                                if (!answer.accepted()) {
                                    problems.add(answer.message());
                                }
                                if (replicas.getStore().list().stream()
                                        .noneMatch(NodeStoryIT::ends)) {
                                    LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
                                }
                            }
                        });
        client.setUncaughtExceptionHandler((thread, e) -> problems.add(e.toString()));
        try {
            kubectl("rollout", "restart", "deployment/gpusharing-webhook");
            kubectl("rollout", "status", "deployment/gpusharing-webhook", "--timeout=300s");
            // The second one changes what the webhook does: an upgrade.
            InClusterInstallation.placeByTheClustersScheduler(cluster);
        } finally {
            open.set(false);
            client.join();
            replicas.close();
        }

        System.out.printf("%d requests over two rollouts%n", asked.get());
        assertThat(problems).isEmpty();
        assertThat(asked.get()).isGreaterThan(100);
    }

    @Test
    @Order(8)
    void allOfItIsChargedToTheSecond() {
        cluster.kubectl().run("delete", "pods,jobs", "--all", "--namespace=" + TEAM).orFail();
        await("every pod's end is in the ledger").atMost(SOON).until(() -> ledger.open() == 0);

        assertThat(ledger.differences()).isEmpty();
        assertThat(ledger.total()).as("micro-GPU-seconds in all").isPositive();
        assertThat(ledger.estimated()).isZero();
    }

    private static boolean ends(Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() != null;
    }

    private static Ledger.AllocationInterval charge(String pod) {
        return charge(TEAM, pod);
    }

    private static Ledger.AllocationInterval charge(String namespace, String pod) {
        return await(pod + " is charged")
                .atMost(SOON)
                .until(() -> ledger.allocations(namespace).get(pod), it -> it != null);
    }

    private static void kubectl(String... words) {
        var command = new ArrayList<>(List.of(words));
        command.add("--namespace=gpusharing-system");
        cluster.kubectl().run(command.toArray(String[]::new)).orFail();
    }

    private static Instant boundAt(JsonNode pod) {
        return Instant.parse(
                Api.condition(pod, "PodScheduled").path("lastTransitionTime").asText());
    }

    private static void awaitRunning(String pod) {
        awaitRunning(TEAM, pod);
    }

    private static JsonNode awaitRunning(String namespace, String pod) {
        return await(pod + " runs")
                .atMost(SOON)
                .until(
                        () -> api.get(Api.pod(namespace, pod)).orFail(),
                        it -> it.at("/status/phase").asText().equals("Running"));
    }

    private static String pod(String name, String nodeSelector, int grace, String command) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          nodeSelector: %s
          terminationGracePeriodSeconds: %d
          containers: [%s]
        """
                .formatted(name, nodeSelector, grace, container(command));
    }

    private static String container(String command) {
        return """
        {name: cuda, image: 'nvidia/cuda:12.6.3-base-ubuntu24.04', command: [sh, -c, "%s"],
         resources: {limits: {tencent.com/vcuda-core: 10, tencent.com/vcuda-memory: 1}}}\
        """
                .formatted(command);
    }
}

package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.NodePods;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against an API server that knows nothing but what it is told here. */
class LiveClusterTest {

    /** More than the first answers take on a busy machine. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String PODS = "/api/v1/pods?fieldSelector=";

    private static final String RUNNING =
            "%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

    /** What is answered, by path and query. */
    private final Map<String, String> objects = new HashMap<>();

    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private final LiveCluster cluster =
            new LiveCluster(
                    client,
                    new DisruptionBudgets(),
                    new RunningPodReader(Gangs.OF_JOBS),
                    unreadable,
                    PATIENCE);

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        String found = objects.get(request.uri().toString().replace("&limit=250", ""));
        return found == null ? Answer.status(404, "") : Answer.ok(found);
    }

    private static String pods(String... phases) {
        var items = new StringBuilder();
        for (String phase : phases) {
            items.append(items.isEmpty() ? "" : ",")
                    .append(
                            """
                            {"metadata": {"name": "%1$s", "namespace": "team-a", "uid": "%1$s"},
                             "spec": {"priority": 7, "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]},
                             "status": {"phase": "%1$s"}}
                            """
                                    .formatted(phase));
        }
        return Answer.list(items.toString()).body();
    }

    private void node(String name, String bound, String nominated) {
        objects.put(
                "/api/v1/nodes/" + name,
                """
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"},
                 "status": {"allocatable": {"cpu": "8", "pods": "110"}, "capacity": {"cpu": "9"}}}
                """
                        .formatted(name));
        objects.put(PODS + "spec.nodeName%3D" + name + RUNNING, bound);
        objects.put(PODS + "spec.nodeName%3D%2Cstatus.nominatedNodeName%3D" + name, nominated);
    }

    @Test
    void readsANodeAndWhoIsOnItOrIsToCome() {
        node("n", pods("Running", "Succeeded", "Pending", "Failed"), pods("Pending"));

        NodePods read = cluster.read("n").orElseThrow();

        assertThat(read.allocatable().of("cpu")).isEqualByComparingTo("8");
        assertThat(read.bound())
                .extracting(load -> load.pod().name())
                .containsExactly("Running", "Pending");
        assertThat(read.bound().getFirst().pod().priority()).isEqualTo(7);
        assertThat(read.bound().getFirst().requests().of("cpu"))
                .isEqualByComparingTo(BigDecimal.TWO);
        assertThat(read.nominated()).hasSize(1);
    }

    /** Finding: a pod without GPUs, of a request of 1m and a limit of 9e999, stopped preemption. */
    @Test
    void aPodOfAmountsWithoutMeasureIsReadAsOthersAre() {
        node(
                "n",
                pods("Running")
                        .replace(
                                "{\"cpu\": \"2\"}",
                                "{\"cpu\": \"1m\"}, \"limits\": {\"cpu\": \"9e999\"}"),
                pods());

        assertThat(cluster.read("n").orElseThrow().bound()).hasSize(1);
    }

    /** Whoever may write a pod's status may leave it without a phase. */
    @Test
    void aPodWithoutAPhaseHasNotEnded() {
        node("n", pods("Running").replace("\"phase\": \"Running\"", ""), pods());

        assertThat(cluster.read("n").orElseThrow().bound()).hasSize(1);
    }

    @Test
    void aPodThatCannotBeReadCountsAsFillingItsNodeAndNoOther() {
        String odd = pods("Running").replace("\"phase\"", "\"startTime\": \"soon\", \"phase\"");
        node("odd", odd, pods());
        node("awaited", pods(), odd);
        node("usual", pods("Pending"), pods());

        assertThat(cluster.read("odd")).isEmpty();
        assertThat(cluster.read("awaited")).isEmpty();
        assertThat(cluster.read("usual")).isPresent();
        assertThat(unreadable.present()).extracting(Unreadable::name).containsExactly("Running");
    }

    /** Finding: one node whose pods are too many megabytes to be read in time ended preemption. */
    @Test
    void aNodeWhosePodsAreNotToldIsSaidToBeSoAndOthersAreRead() {
        node("silent", pods(), pods());
        objects.remove(PODS + "spec.nodeName%3Dsilent" + RUNNING);
        node("usual", pods("Pending"), pods());

        assertThatThrownBy(() -> cluster.read("silent"))
                .isInstanceOf(KubernetesClientException.class);
        assertThat(cluster.read("usual")).isPresent();
    }

    @Test
    void aNodeThatHasGoneIsNone() {
        assertThat(cluster.read("gone")).isEmpty();
    }

    @Test
    void beforePodDisruptionBudgetsAreListedNobodyIsTakenForUnguarded() {
        assertThatThrownBy(cluster::disruptionBudgets)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("PodDisruptionBudgets have not been listed yet");
    }
}

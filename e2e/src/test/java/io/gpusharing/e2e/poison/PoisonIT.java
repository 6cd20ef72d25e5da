package io.gpusharing.e2e.poison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.poison.Poison.Author;
import io.gpusharing.e2e.poison.Poison.Outcome;
import io.gpusharing.request.Quantity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * A hundred objects that the API server stores and that a reader may stumble over. While they are
 * there, pods of others are placed, preempted, reclaimed and charged as if they were not. Half of
 * them come while our services watch; then these start again, and list them.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PoisonIT {

    private static final String WHOLE = "nvidia.com/gpu";

    private static final List<Poison> stored = new ArrayList<>();
    private static PoisonedCluster cluster;

    @BeforeAll
    static void start() {
        cluster = PoisonedCluster.start("poison");
        List<Poison> all = TellingPoisons.all();
        store(all.subList(0, all.size() / 2));
        cluster.restartServices();
        store(all.subList(all.size() / 2, all.size()));
        System.out.println("poisons: " + cluster.outcomes());
    }

    private static void store(List<Poison> poisons) {
        for (Poison poison : poisons) {
            List<Outcome> outcomes = cluster.store(poison);
            assertThat(outcomes)
                    .as("%s: the API server stores it", poison)
                    .doesNotContain(Outcome.REFUSED_BY_KUBERNETES);
            if (outcomes.getFirst() == Outcome.STORED) {
                stored.add(poison);
            }
        }
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    @Order(1)
    void aWholeGpuThatTheWebhookCannotReadIsRefusedOrCompletedAndNeverAdmittedUnlabelled() {
        List<Poison> whole =
                stored.stream()
                        .filter(it -> it.by() == Author.TENANT)
                        .filter(it -> it.kind().equals("Pod"))
                        .filter(it -> asksForAWholeGpu(it.object()))
                        .toList();

        assertThat(whole)
                .allSatisfy(poison ->
                        assertThat(
                                        cluster.administrator()
                                                .get(poison.path())
                                                .orFail()
                                                .at("/metadata/labels/gpusharing.io~1metered")
                                                .asText())
                                .as(poison.toString())
                                .isEqualTo("true"));
    }

    /** Each is reviewed once more, now that their budget is known. */
    @Test
    @Order(2)
    void noReviewFails() {
        Api tenant = cluster.administrator().as("tenant", "system:authenticated");

        assertThat(TellingPoisons.all())
                .filteredOn(it -> it.by() == Author.TENANT && it.kind().equals("Pod"))
                .allSatisfy(poison ->
                        assertThat(tenant.dryRun(poison.namespace(), poison.object()).code())
                                .as(poison.toString())
                                .isLessThan(500));
    }

    private static boolean asksForAWholeGpu(JsonNode pod) {
        for (JsonNode container : pod.at("/spec/containers")) {
            String amount = container.at("/resources/limits").path(WHOLE).asText("0");
            if (Quantity.parse(amount).value().signum() > 0) {
                return true;
            }
        }
        return false;
    }

    @Test
    @Order(3)
    void aPodThatIsBoundAndCannotBeReadEndsNoSweep() {
        Api administrator = cluster.administrator();
        String path = Api.pod("kube-system", "found-by-a-sweep");

        administrator
                .create(
                        "kube-system",
                        "{apiVersion: v1, kind: Pod, metadata: {name: found-by-a-sweep}, spec: {schedulerName: nobody, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}")
                .orFail();
        administrator
                .post(
                        path + "/binding",
                        "{apiVersion: v1, kind: Binding, metadata: {name: found-by-a-sweep}, target: {apiVersion: v1, kind: Node, name: poisoned}}")
                .orFail();

        await("the pod without our label is charged")
                .atMost(Duration.ofSeconds(20))
                .until(() ->
                        cluster.ledger()
                                .allocations("kube-system")
                                .containsKey("found-by-a-sweep"));
    }

    @Test
    @Order(4)
    void aPodOfMoreGpusThanThereAreAtomsWithOurLabelLosesNobodyElse() {
        // Where neither webhook nor policy looks at it.
        cluster.administrator()
                .create(
                        "kube-system",
                        "{apiVersion: v1, kind: Pod, metadata: {name: labelled, labels: {gpusharing.io/metered: 'true'}, annotations: {gpusharing.io/request: c/nvidia.com/gpu=9e999}}, spec: {schedulerName: nobody, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: '9e999'}}}]}}")
                .orFail();

        cluster.innocents().comeAndGo("beside-it");
    }

    @Test
    @Order(5)
    void aBitOfAProcessorWithALimitBeyondAllNumbersStopsNeitherPreemptionNorReclaim() {
        Api administrator = cluster.administrator();
        List<String> nodes = List.of("gpu-node-1", "gpu-node-2");
        for (String node : nodes) {
            administrator
                    .create(
                            TellingPoisons.NAMESPACE,
                            "{apiVersion: v1, kind: Pod, metadata: {name: on-%1$s}, spec: {nodeSelector: {kubernetes.io/hostname: %1$s}, containers: [{name: c, image: i, resources: {requests: {cpu: 1m}, limits: {cpu: '9e999'}}}]}}"
                                    .formatted(node))
                    .orFail();
        }
        await("they run beside the pods with GPUs")
                .atMost(Duration.ofSeconds(20))
                .until(() ->
                        nodes.stream()
                                .allMatch(node ->
                                        administrator
                                                .get(
                                                        Api.pod(
                                                                TellingPoisons.NAMESPACE,
                                                                "on-" + node))
                                                .orFail()
                                                .at("/status/phase")
                                                .asText()
                                                .equals("Running")));

        cluster.innocents().live();
    }

    @Test
    @Order(6)
    void nothingIsListedMoreThanTwiceAndEveryPartIsReady() {
        cluster.nothingIsListedMoreThanTwice();
        cluster.everyPartIsReady();
    }

    @Test
    @Order(7)
    void thoseThatCannotBeReadAreCountedAndTold() {
        long evictions = stored.stream().filter(it -> it.kind().equals("GpuEviction")).count();
        assertThat(evictions).isPositive();
        // A GPU whose number is none.
        await("those that read it say so")
                .atMost(Duration.ofSeconds(10))
                .untilAsserted(() ->
                        assertThat(cluster.unreadable("GpuNode"))
                                .containsEntry("timekeeper", 1L)
                                .containsEntry("scheduler-extender", 1L));
        await("evictions whose pods have no UUID, and one with an instant that is none")
                .atMost(Duration.ofSeconds(10))
                .untilAsserted(() ->
                        assertThat(cluster.unreadable("GpuEviction"))
                                .containsEntry("timekeeper", evictions)
                                .containsEntry("scheduler-extender", evictions));
        await("an Event on each")
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(() ->
                        assertThat(
                                        cluster.administrator()
                                                .get(
                                                        "/api/v1/namespaces/default/events?fieldSelector=reason%3DUnreadable")
                                                .orFail()
                                                .findValuesAsText("kind"))
                                .contains("GpuNode", "GpuEviction"));
    }

    @Test
    @Order(8)
    void whenTheyGoNobodyElseIsCharged() {
        InnocentPods innocents = cluster.innocents();

        cluster.clear();

        innocents.comeAndGo("afterwards");
        cluster.everyPartIsReady();
    }
}

package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Kubectl;
import io.gpusharing.e2e.cluster.TestCluster;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What {@code kubectl delete -f deployment/} takes away from real nodes, and what it leaves. */
@Tag("node")
@Order(3)
@ExtendWith(RealNodes.OfTheRun.class)
class RemovalIT {

    private static final String TEAM = "stays";

    private static TestCluster cluster;
    private static Api api;

    @BeforeAll
    static void start(RealNodes nodes) {
        cluster = nodes.cluster();
        api = nodes.api();
        Team.create(cluster, api, TEAM);
    }

    @Test
    void allProgramsGoButWhatRunsRunsOnAndBudgetsAndLedgerStay() {
        var pods = new GpuPods(cluster, api, TEAM);
        pods.create("works", "tencent.com/vcuda-core: 10, tencent.com/vcuda-memory: 1");
        pods.seenBy("works");
        List<JsonNode> before = running(pods);
        cluster.kubectl()
                .run("label", "nodes", "--all", "gpusharing.io/gpus-", "gpusharing.io/dialect-")
                .orFail();

        Kubectl.Answer removal = cluster.kubectl().run("delete", "-f", "deployment/");

        assertThat(removal.text()).contains("gpusharing-keep-budgets", "gpusharing-keep-ledger");
        String ours = "/api/v1/namespaces/gpusharing-system/";
        await("no program of ours runs")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(api.get(ours + "pods").orFail().path("items")).isEmpty());
        assertThat(running(pods)).as("the container").isEqualTo(before);
        assertThat(api.get("/apis/gpusharing.io/v1alpha1/gpubudgets/" + TEAM).accepted()).isTrue();
        assertThat(
                        api.get(ours + "persistentvolumeclaims")
                                .orFail()
                                .at("/items/0/status/phase")
                                .asText())
                .isEqualTo("Bound");
        pods.kubectl("delete", "pod", "works", "--grace-period=1");
    }

    /** Which container it is, and since when; kubelets list its devices in no order. */
    private static List<JsonNode> running(GpuPods pods) {
        JsonNode container = pods.pod("works").at("/status/containerStatuses/0");
        return List.of(container.path("containerID"), container.at("/state/running"));
    }
}

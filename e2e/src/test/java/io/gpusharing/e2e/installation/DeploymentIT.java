package io.gpusharing.e2e.installation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The manifests as they are shipped, on a fresh control plane, while none of our services runs. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DeploymentIT {

    private static TestCluster cluster;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/deployment"));
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    @Order(1)
    void everyObjectIsCreatedInOneGo() {
        var answer = cluster.kubectl().run("create", "-f", "deployment/");

        assertThat(answer.exit()).as(answer.text()).isZero();
        assertThat(answer.text().lines())
                .isNotEmpty()
                .allMatch(line -> line.endsWith(" created"), "nothing but '... created'");
    }

    @Test
    @Order(2)
    void theExampleOfATeamIsCreatedAfterwards() {
        Chart.awaitKinds(cluster, "gpubudgets");

        var answer = cluster.kubectl().run("create", "-f", "examples/team-a.yaml");

        assertThat(answer.exit()).as(answer.text()).isZero();
        assertThat(cluster.kubectl().run("get", "gpubudget", "team-a").orFail()).contains("team-a");
    }

    @Test
    @Order(3)
    void aGpuPodWaitsForTheWebhookAndOthersDoNot() {
        var gpu = cluster.kubectl().run("create", "-f", "e2e/story/cuda.yaml");
        var cpu = cluster.kubectl().run("run", "cpu", "--image=busybox", "--namespace=team-a");

        assertThat(gpu.refused()).isTrue();
        assertThat(gpu.text()).contains("failed calling webhook \"pods.gpusharing.io\"");
        assertThat(cpu.refused()).as(cpu.text()).isFalse();
    }
}

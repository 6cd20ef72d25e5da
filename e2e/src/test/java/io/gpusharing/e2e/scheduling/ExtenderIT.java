package io.gpusharing.e2e.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.e2e.cluster.ClientIdentities;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.ClusterScheduler;
import io.gpusharing.e2e.installation.ClusterScheduler.ClientKey;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.SimulatedGpuNode;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.TrustAnchors;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The cluster's own kube-scheduler asks our extender over TLS, each with its own certificate and
 * rights. Two nodes of two GPUs each, which are simulated, as their device plugins are.
 */
class ExtenderIT {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String INSPECT = "/gpushare-scheduler/inspect";

    private static TestCluster cluster;
    private static ClusterScheduler scheduler;
    private static PlacedPods pods;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/extender"));
        Chart.createKinds(cluster);
        for (String node : List.of("gpu-node-1", "gpu-node-2")) {
            new SimulatedGpuNode(cluster.client(), node, 2).create();
        }
        cluster.createNamespace(Installation.NAMESPACE);
        pods = new PlacedPods(cluster, "extender");
        cluster.kubectl().run("create", "priorityclass", "high", "--value=1000").orFail();
        scheduler = ClusterScheduler.on(cluster, keysOf(cluster));
    }

    /** Certificates as the cluster's client CA would issue them. */
    static Function<String, ClientKey> keysOf(TestCluster cluster) {
        return name -> clientKey(cluster, name);
    }

    private static ClientKey clientKey(TestCluster cluster, String name) {
        ServerIdentity client = ClientIdentities.of(cluster, "CN=" + name);
        return new ClientKey(Pem.of(client.certificate()), Pem.of(client.key()));
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @AfterEach
    void deletePods() {
        pods.deleteAll();
    }

    /** As admission leaves one: with our label, and with the cluster's own scheduler. */
    private static void create(String name, int core, String more) {
        cluster.kubectl()
                .pipe(
                        pods.manifest(name, core, 1)
                                .replace("  schedulerName: gpusharing-scheduler\n", more)
                                .replace(
                                        "metadata: {",
                                        "metadata: {labels: {gpusharing.io/metered: 'true'}, "),
                        "create",
                        "-f",
                        "-")
                .orFail();
    }

    private static void bound(String pod, int core) {
        create(pod, core, "");
        await(pod + " is bound").atMost(SOON).until(() -> pods.gpuOf(pod) != null);
    }

    @Test
    void theClustersOwnSchedulerPlacesOnSingleGpusAndShowsWhoHasThem() throws Exception {
        bound("first", 60);
        bound("second", 40);
        assertThat(pods.gpuOf("second")).isEqualTo(pods.gpuOf("first"));
        bound("third", 60);
        bound("fourth", 60);
        bound("fifth", 60);
        assertThat(pods.held().values()).containsExactlyInAnyOrder(100L, 60L, 60L, 60L);

        // The node of the last two has 80 free.
        create("waiter", 70, "");
        await("it is told why it waits")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.whyItWaits("waiter"))
                                .contains("no single GPU has 70 of 100 and 256 MiB free"));
        scheduler.killExtender();
        pods.delete("third");
        scheduler.restartExtender();
        await("it is bound").atMost(SOON).until(() -> pods.gpuOf("waiter") != null);
        assertThat(pods.held().values()).containsExactlyInAnyOrder(100L, 70L, 60L, 60L);

        may("get", "nodes", "extender:default", "kube-node-lease:default");
        may("list", "pods", "extender:default");
        assertThat(look("extender").statusCode()).isEqualTo(200);
        assertThat(look("extender").body())
                .contains("\"name\":\"waiter\",\"namespace\":\"extender\",\"usedGPU\":1");
        assertThat(look("kube-node-lease").statusCode()).isEqualTo(200);
        assertThat(look("kube-node-lease").body())
                .contains("\"usedGPU\":1")
                .doesNotContain("waiter");
        assertThat(look("kube-public").statusCode()).isEqualTo(403);
    }

    /** In all namespaces. */
    private static void may(String verb, String resource, String... accounts) {
        String name = verb + "-" + resource;
        cluster.kubectl()
                .run("create", "clusterrole", name, "--verb=" + verb, "--resource=" + resource)
                .orFail();
        for (String account : accounts) {
            cluster.kubectl()
                    .run(
                            "create",
                            "clusterrolebinding",
                            name + "-" + account.replace(':', '-'),
                            "--clusterrole=" + name,
                            "--serviceaccount=" + account)
                    .orFail();
        }
    }

    /** With the token of a namespace's default account. */
    private static HttpResponse<String> look(String namespace) throws Exception {
        String token =
                cluster.kubectl()
                        .run("create", "token", "default", "--namespace=" + namespace)
                        .orFail()
                        .strip();
        var tls = TrustAnchors.trusting(Files.readString(scheduler.extenderAuthority()));
        try (var http = HttpClient.newBuilder().sslContext(tls).build()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create(scheduler.extenderUrl() + INSPECT))
                            .header("Authorization", "Bearer " + token)
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    @Test
    void preemptsByTheRightsThatTheChartGives() {
        for (int i = 1; i <= 4; i++) {
            bound("low-" + i, 80);
        }
        create("important", 60, "  priorityClassName: high\n");

        await("it is bound").atMost(SOON).until(() -> pods.gpuOf("important") != null);
        assertThat(pods.held().values()).containsExactlyInAnyOrder(80L, 80L, 80L, 60L);
        KeptRooms.awaitNone(cluster);
    }

    @Test
    void whoeverElseAsksHasNobodyBound() {
        scheduler.askAs("ada");
        try {
            create("refused", 50, "");

            await("it is told so")
                    .atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(pods.whyItWaits("refused")).contains("code 403"));
            assertThat(pods.gpuOf("refused")).isNull();
        } finally {
            scheduler.askAs(ClusterScheduler.NAME);
        }
        await("it is bound").atMost(SOON).until(() -> pods.gpuOf("refused") != null);
    }
}

package io.gpusharing.scheduler.version;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.rounds.Rounds;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Asks and patches over HTTP, as an API server sees it. */
class VersionFollowerTest {

    private static final String DEPLOYMENT =
            "/apis/apps/v1/namespaces/gpusharing-system/deployments/gpusharing-scheduler";

    private final List<String> patches = new ArrayList<>();
    private String version = "v1.36.3";
    private String image = "registry.k8s.io/kube-scheduler:v1.30.14";
    private String condition = "{\"type\":\"Progressing\",\"status\":\"True\"}";
    private int answer = 200;
    private HttpServer server;
    private KubernetesClient client;
    private VersionFollower follower;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder()
                                        .withAutoConfigure(false)
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .withKubernetesSerialization(LeanObjects.serialization())
                        .build();
        follower =
                new VersionFollower(
                        client,
                        new VersionProperties(
                                "gpusharing-system", "gpusharing-scheduler", "kube-scheduler"),
                        new Rounds(new SimpleMeterRegistry()),
                        Clock.systemUTC());
    }

    @AfterEach
    void end() {
        client.close();
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String asked = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        if (exchange.getRequestMethod().equals("PATCH")) {
            patches.add(
                    exchange.getRequestHeaders().getFirst("Content-Type")
                            + " "
                            + asked.replaceAll("\\s+", ""));
        }
        byte[] body =
                (path.equals("/version")
                                ? "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"%s\",\"buildDate\":\"2026-01-01T00:00:00Z\"}"
                                        .formatted(version)
                                : path.equals(DEPLOYMENT) && answer == 200
                                        ? """
                                        {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"gpusharing-scheduler","namespace":"gpusharing-system"},
                                         "spec":{"template":{"spec":{"containers":[{"name":"kube-scheduler","image":"%s"}]}}},
                                         "status":{"conditions":[%s]}}
                                        """
                                                .formatted(image, condition)
                                        : "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d}"
                                                .formatted(answer))
                        .getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(path.equals("/version") ? 200 : answer, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Test
    void namesTheContainerAndTheNewTagAndNothingElse() {
        follower.follow();

        assertThat(patches)
                .containsExactly(
                        "application/strategic-merge-patch+json "
                                + "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"kube-scheduler\",\"image\":\"registry.k8s.io/kube-scheduler:v1.36.3\"}]}}}}");
    }

    @Test
    void leavesWhatFits() {
        image = "registry.k8s.io/kube-scheduler:v1.36.0";

        follower.follow();

        assertThat(patches).isEmpty();
    }

    @Test
    void leavesAnImageWithoutAVersionAndAnApiServerWithoutOne() {
        image = "registry.k8s.io/kube-scheduler@sha256:0123";
        follower.follow();
        image = "registry.k8s.io/kube-scheduler:v1.30.14";
        version = "v1.37.0-rc.1";
        follower.follow();

        assertThat(patches).isEmpty();
    }

    @Test
    void goesToTheFirstPatchReleaseWhereTheOthersImageIsNotThere() {
        version = "v1.31.104";
        image = "registry.k8s.io/kube-scheduler:v1.31.104";
        condition =
                "{\"type\":\"Progressing\",\"status\":\"False\",\"message\":\"has timed out progressing\"}";

        follower.follow();

        assertThat(patches).singleElement().asString().contains("kube-scheduler:v1.31.0");
    }

    @Test
    void goesOnAfterAnApiServerThatRefuses() {
        answer = 403;
        follower.follow();
        answer = 404;
        follower.follow();
        answer = 200;
        follower.follow();

        assertThat(patches).hasSize(1);
    }
}

package io.gpusharing.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.webhook.testing.FakeApiServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The service as it runs, before an API server that can go away. */
class WebhookApplicationTest {

    private static final String MUTATING =
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gpusharing-webhook";
    private static final String REPORTING_CA =
            "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-reporting-ca";
    private static final String BUDGET = "/apis/gpusharing.io/v1alpha1/gpubudgets/a";

    private static FakeApiServer api;
    private static ConfigurableApplicationContext context;
    private static HttpClient https;
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws Exception {
        api = new FakeApiServer();
        api.put(
                MUTATING,
                """
                {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                 "metadata": {"name": "gpusharing-webhook"},
                 "webhooks": [{"name": "pods.gpusharing.io", "clientConfig": {"url": "https://127.0.0.1:1"}}]}
                """);
        api.put(
                REPORTING_CA,
                """
                {"apiVersion": "v1", "kind": "ConfigMap",
                 "metadata": {"name": "gpusharing-reporting-ca", "namespace": "gpusharing-system"},
                 "data": {"ca.crt": "-----BEGIN CERTIFICATE-----"}}
                """);
        System.setProperty("kubernetes.master", api.url());
        System.setProperty("kubernetes.auth.tryKubeConfig", "false");
        context =
                new SpringApplicationBuilder(WebhookApplication.class)
                        .run(
                                "--server.port=0",
                                "--management.server.port=0",
                                "--gpusharing.tls.subject-alternative-names=127.0.0.1");
        await().atMost(Duration.ofSeconds(60)).until(() -> status("/readyz") == 200);
        https = HttpClient.newBuilder().sslContext(api.trusting(MUTATING)).build();
    }

    @AfterAll
    static void stop() {
        // First, as the replica that ends would wait for its connections.
        https.close();
        context.close();
        api.close();
        System.clearProperty("kubernetes.master");
        System.clearProperty("kubernetes.auth.tryKubeConfig");
    }

    @Test
    void answersClientsThatTrustTheWrittenCaBundle() throws Exception {
        HttpResponse<String> answer = post("/mutate?timeout=3s", FakeApiServer.review());

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(JsonMapper.shared().readTree(answer.body()).at("/response/allowed").asBoolean())
                .isTrue();
    }

    @Test
    void aReviewPassesNoFilter() {
        var web = (ServletWebServerApplicationContext) context;

        assertThat(Objects.requireNonNull(web.getServletContext()).getFilterRegistrations())
                .isEmpty();
    }

    @Test
    void injectsWhatTrustsTheReportingAuthority() throws Exception {
        await().untilAsserted(() -> assertThat(patch()).contains("gpusharing-sidecar"));

        assertThat(patch()).contains("BEGIN CERTIFICATE");
    }

    @Test
    void injectsNoImageThatIsSwitchedOffAndInjectsItAgain() {
        await().untilAsserted(() -> assertThat(patch()).contains("gpusharing-sidecar"));
        String injection = "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-injection";
        api.put(
                injection,
                """
                {"apiVersion": "v1", "kind": "ConfigMap",
                 "metadata": {"name": "gpusharing-injection", "namespace": "gpusharing-system"},
                 "data": {"injection": "Off", "image": "IMAGE"}}
                """
                        .replace(
                                "IMAGE",
                                context.getEnvironment()
                                        .getRequiredProperty("gpusharing.sidecar.image")));
        await().untilAsserted(() -> {
            assertThat(patch()).doesNotContain("gpusharing-sidecar");
            assertThat(HTTP.send(management("/metrics"), BodyHandlers.ofString()).body())
                    .contains("gpusharing_injection_stopped 1.0");
        });

        api.delete(injection);

        await().untilAsserted(() -> assertThat(patch()).contains("gpusharing-sidecar"));
    }

    @Test
    void createsNoSecretButItsOwn() {
        String secrets = "/api/v1/namespaces/gpusharing-system/secrets/";

        assertThat(api.get(secrets + "gpusharing-webhook-ca")).isNotNull();
        assertThat(api.get(secrets + "gpusharing-reporting-ca")).isNull();
    }

    @Test
    void injectsNothingUntilTheTimekeeperHasMadeTheReportingAuthority() {
        String made = String.valueOf(api.get(REPORTING_CA));
        api.delete(REPORTING_CA);
        await().untilAsserted(() -> assertThat(patch()).doesNotContain("gpusharing-sidecar"));

        api.put(REPORTING_CA, made);

        await().untilAsserted(() -> assertThat(patch()).contains("gpusharing-sidecar"));
    }

    @Test
    void aBudgetThatIsPublishedDecidesTheNextPod() {
        api.put(
                BUDGET,
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget", "metadata": {"name": "a"},
                 "spec": {"namespaces": ["team-a"], "gpuMinutes": "0"}}
                """);
        await().untilAsserted(() ->
                assertThat(post("/mutate", FakeApiServer.review()).body())
                        .contains("budget a is used up"));

        api.delete(BUDGET);
        await().untilAsserted(() ->
                assertThat(post("/mutate", FakeApiServer.review()).body())
                        .doesNotContain("used up"));
    }

    /** A tenant makes them, and each failed every review of its namespace once. */
    @Test
    void aLimitRangeAndAQuotaLargerThanAnyNumberFailNoReview() {
        api.put(
                "/api/v1/limitranges/huge-limit",
                """
                {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "huge-limit", "namespace": "team-a"},
                 "spec": {"limits": [{"type": "Container", "max": {"cpu": "9e999", "memory": "60Mi"}}]}}
                """);
        api.put(
                "/api/v1/resourcequotas/huge-quota",
                """
                {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "huge-quota", "namespace": "team-a"},
                 "status": {"hard": {"limits.memory": "9e999", "limits.cpu": "30m"},
                            "used": {"limits.memory": "8e999", "limits.cpu": "0"}}}
                """);

        await().untilAsserted(() ->
                assertThat(patch()).contains("\"memory\":\"60Mi\"", "\"cpu\":\"30m\""));

        api.delete("/api/v1/limitranges/huge-limit");
        api.delete("/api/v1/resourcequotas/huge-quota");
        await().untilAsserted(() -> assertThat(patch()).contains("\"cpu\":\"100m\""));
    }

    @Test
    void aLimitRangeThatCannotBeReadIsToldAndFailsNoReview() {
        String odd = "/api/v1/limitranges/odd-limit";
        api.put(
                odd,
                """
                {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "odd-limit", "namespace": "team-a"},
                 "spec": {"limits": [{"type": "Container", "max": {"cpu": "many"}}]}}
                """);

        await().untilAsserted(() -> {
            assertThat(post("/mutate", FakeApiServer.review()).body())
                    .contains("\"allowed\":true", "LimitRange odd-limit cannot be read");
            assertThat(HTTP.send(management("/metrics"), BodyHandlers.ofString()).body())
                    .contains("gpusharing_objects_unreadable{kind=\"LimitRange\"} 1.0");
            assertThat(status("/readyz")).isEqualTo(200);
        });

        api.delete(odd);
        await().untilAsserted(() ->
                assertThat(HTTP.send(management("/metrics"), BodyHandlers.ofString()).body())
                        .contains("gpusharing_objects_unreadable{kind=\"LimitRange\"} 0.0"));
    }

    @Test
    void keepsAnsweringWhileTheApiServerIsAwayAndResumes() throws Exception {
        api.goAway();

        assertThat(post("/mutate", FakeApiServer.review()).statusCode()).isEqualTo(200);
        assertThat(status("/readyz")).isEqualTo(200);
        assertThat(status("/livez")).isEqualTo(200);

        api.comeBack();
        api.put(
                BUDGET,
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget", "metadata": {"name": "a"},
                 "spec": {"namespaces": ["team-a"], "gpuMinutes": "0"}}
                """);
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() ->
                        assertThat(post("/mutate", FakeApiServer.review()).body())
                                .contains("budget a is used up"));
        api.delete(BUDGET);
        await().untilAsserted(() ->
                assertThat(post("/mutate", FakeApiServer.review()).body())
                        .doesNotContain("used up"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "garbage", "{}", "[[[[", "{\"kind\": \"AdmissionReview\"}"})
    void aRequestThatIsNoReviewIsLoggedInOneLine(String body) throws Exception {
        HttpResponse<String> answer = post("/mutate", body.getBytes(UTF_8));

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body().lines()).hasSize(1);
        assertThat(answer.body()).doesNotContain("Exception");
    }

    @Test
    void aBodyOfEightMebibytesIsRead() throws Exception {
        assertThat(post("/mutate", new byte[8 * 1024 * 1024]).statusCode()).isEqualTo(400);
    }

    @Test
    void aBodyFarLongerThanAnyReviewIsRefusedBeforeItComes() throws Exception {
        try (Socket socket = connected()) {
            send(socket, "POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: 41943040\r\n\r\n");

            assertThat(new String(socket.getInputStream().readNBytes(12), UTF_8))
                    .isEqualTo("HTTP/1.1 413");
        }
    }

    /**
     * With an error the API server would let pods for whole GPUs pass, and nobody would charge
     * them.
     */
    @ParameterizedTest
    @MethodSource("unreadable")
    void aReviewThatCannotBeReadIsOneThatIsRefused(String what, String pod) throws Exception {
        String review =
                """
                {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request":
                 {"uid": "u-1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE",
                  "namespace": "team-a", "object": %s}}
                """
                        .formatted(pod);

        HttpResponse<String> answer = post("/mutate", review.getBytes(UTF_8));

        assertThat(answer.statusCode()).as(what).isEqualTo(200);
        assertThat(answer.body())
                .contains("\"uid\":\"u-1\"", "\"allowed\":false", "cannot read this object");
    }

    static Stream<Arguments> unreadable() {
        return Stream.of(
                Arguments.of(
                        "longer than any review",
                        "{\"metadata\": {\"annotations\": {\"a\": \"%s\"}}}"
                                .formatted("\\u003c".repeat(1_500_000))),
                Arguments.of(
                        "an amount that is none",
                        """
                        {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "many"}}}]}}
                        """));
    }

    @Test
    void onlyPostsToTheTwoPathsAreAnswered() throws Exception {
        HttpRequest get = HttpRequest.newBuilder(admission("/mutate")).GET().build();

        assertThat(https.send(get, BodyHandlers.ofString()).statusCode()).isEqualTo(405);
        assertThat(post("/other", FakeApiServer.review()).statusCode()).isEqualTo(404);
        assertThat(post("/error", FakeApiServer.review()).statusCode()).isEqualTo(404);
        assertThat(post("/validate", FakeApiServer.review()).statusCode()).isEqualTo(200);
    }

    @Test
    void silentConnectionsDoNotDelayOthers() throws Exception {
        try (Socket one = new Socket(InetAddress.getLoopbackAddress(), admission("/").getPort());
                Socket two =
                        new Socket(InetAddress.getLoopbackAddress(), admission("/").getPort())) {
            one.getOutputStream().write(22);
            two.getOutputStream().flush();

            assertThat(post("/mutate", FakeApiServer.review()).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aSlowBodyLosesItsConnectionAtTheDeadline() throws Exception {
        try (Socket socket = connected()) {
            send(socket, "POST /mutate?timeout=1s HTTP/1.1\r\nHost: a\r\n");
            send(socket, "Content-Length: 100000\r\n\r\n");
            socket.setSoTimeout(20);
            var answer = new StringBuilder();

            await().atMost(Duration.ofSeconds(10))
                    .until(() -> isOver(socket, answer) || hangsUp(socket));

            assertThat(answer).startsWith("HTTP/1.1 503").endsWith("try again\n");
        }
    }

    @Test
    void bodiesThatNeverArriveHoldNoMemoryAndDelayNoOther() throws Exception {
        var stalled = new ArrayList<Socket>();
        try {
            for (int client = 0; client < 100; client++) {
                Socket socket = connected();
                stalled.add(socket);
                String length =
                        client % 2 == 0 ? "Content-Length: 8000000" : "Transfer-Encoding: chunked";
                send(socket, "POST /mutate HTTP/1.1\r\nHost: a\r\n" + length + "\r\n\r\n1\r\n{");
            }

            HttpResponse<String> answer = post("/mutate?timeout=2s", FakeApiServer.review());

            assertThat(answer.statusCode()).isEqualTo(200);
        } finally {
            for (Socket socket : stalled) {
                socket.close();
            }
        }
    }

    @Test
    void metricsShowVerdictsAndExpiry() throws Exception {
        post("/mutate", FakeApiServer.review());

        String metrics = HTTP.send(management("/metrics"), BodyHandlers.ofString()).body();

        assertThat(metrics)
                .contains("gpusharing_admission_reviews_total{type=\"Mutate\",verdict=\"Allowed\"}")
                .contains("gpusharing_admission_latency_seconds_bucket")
                .contains("gpusharing_apiserver_refused_seconds 0.0");
    }

    @Test
    void readinessSaysWhetherTheApiServerLetsItWork() throws Exception {
        assertThat(HTTP.send(management("/readyz"), BodyHandlers.ofString()).body())
                .contains("\"apiServer\"");
    }

    private static Socket connected() throws Exception {
        return api.trusting(MUTATING)
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), admission("/").getPort());
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
    }

    /** Sends one byte more; true when the other side has closed. */
    private static boolean hangsUp(Socket socket) throws IOException {
        try {
            send(socket, "1");
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    /** Reads what has come; true when the other side has closed. */
    private static boolean isOver(Socket socket, StringBuilder answer) throws IOException {
        try {
            int next = socket.getInputStream().read();
            while (next >= 0) {
                answer.append((char) next);
                next = socket.getInputStream().read();
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    private static HttpResponse<String> post(String path, byte[] body)
            throws IOException, InterruptedException {
        return https.send(
                HttpRequest.newBuilder(admission(path))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static String patch() throws IOException, InterruptedException {
        JsonNode answer =
                JsonMapper.shared().readTree(post("/mutate", FakeApiServer.review()).body());
        return new String(answer.at("/response/patch").binaryValue(), UTF_8);
    }

    private static int status(String path) throws IOException, InterruptedException {
        return HTTP.send(management(path), BodyHandlers.ofString()).statusCode();
    }

    private static URI admission(String path) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return URI.create("https://127.0.0.1:" + port + path);
    }

    private static HttpRequest management(String path) {
        String port = context.getEnvironment().getRequiredProperty("local.management.port");
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    }
}

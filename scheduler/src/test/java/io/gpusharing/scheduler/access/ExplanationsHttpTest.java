package io.gpusharing.scheduler.access;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.scheduler.explaining.PlacementQuestions;
import io.gpusharing.scheduler.explaining.PodExplanations;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.web.testing.ClientTls;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.State;
import io.gpusharing.wire.ExplanationQuestion;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The port for the timekeeper, over TLS, beside another one of the same server. */
class ExplanationsHttpTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String TIMEKEEPER =
            "system:serviceaccount:gpusharing-system:gpusharing-timekeeper";
    private static final DataSize MOST = DataSize.ofKilobytes(64);

    private final Instant now = Instant.now();
    private final CertificateAuthority authority =
            CertificateAuthority.create("test", now, Duration.ofDays(1));
    private final ServerIdentity served =
            authority.issue(List.of("127.0.0.1"), now, Duration.ofDays(1));
    private final ReviewingApiServer apiServer = new ReviewingApiServer();
    private final KubernetesClient client = apiServer.client();
    private final FakeExplanations explanations = new FakeExplanations();
    private volatile boolean known = true;
    private ExplanationsConnector connector;
    private WebServer server;

    /** Says what it was asked, and whom it may name; as long as it is held it says nothing. */
    private static final class FakeExplanations implements PodExplanations {

        private @Nullable CountDownLatch held;
        private @Nullable RuntimeException failure;
        private volatile @Nullable Pod newPod;

        @Override
        public Optional<Explanation> ofPod(
                String namespace, String name, int detailed, Predicate<String> shown) {
            return name.equals("nobody")
                    ? Optional.empty()
                    : Optional.of(explained(namespace, name, shown));
        }

        @Override
        public Explanation ofNewPod(Pod pod, int detailed, Predicate<String> shown) {
            newPod = pod;
            return explained("team-a", pod.getMetadata().getName(), shown);
        }

        private Explanation explained(String namespace, String name, Predicate<String> shown) {
            if (failure != null) {
                throw failure;
            }
            if (held != null) {
                try {
                    held.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return new Explanation(
                    Instant.parse("2026-03-01T12:00:00.123456789Z"),
                    namespace,
                    name,
                    State.Waits,
                    null,
                    "shown: " + List.of("team-a", "team-b").stream().filter(shown).toList(),
                    List.of(),
                    null,
                    null,
                    null,
                    null,
                    null,
                    List.of(),
                    List.of());
        }
    }

    @BeforeEach
    void start() {
        start(Duration.ofSeconds(10));
    }

    private void start(Duration patience) {
        if (server != null) {
            server.destroy();
        }
        var bundles = new DefaultSslBundleRegistry("served", ServingCertificate.bundle(served));
        connector = new ExplanationsConnector(0, "served", bundles);
        var filter =
                new ExplanationsFilter(
                        connector,
                        TIMEKEEPER,
                        new AccessReviews(
                                client, Clock.systemUTC(), 20, Names.EXPLANATIONS_AUDIENCE),
                        new PlacementQuestions(
                                explanations,
                                () -> known,
                                new AccessReviews(client, Clock.systemUTC(), 20),
                                patience),
                        MOST,
                        Clock.systemUTC());
        var factory = new TomcatServletWebServerFactory(0);
        connector.customize(factory);
        server =
                factory.getWebServer(context -> {
                    context.addFilter("explanations", filter)
                            .addMappingForUrlPatterns(null, false, "/*");
                    // As the extender, which binds pods for who reaches it.
                    context.addServlet("extender", new Extender()).addMapping("/*");
                });
        server.start();
    }

    private static final class Extender extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            response.getOutputStream().write("bound".getBytes(UTF_8));
        }
    }

    @AfterEach
    void end() {
        server.destroy();
        client.close();
        apiServer.close();
    }

    private static ExplanationQuestion question(
            String user,
            List<String> groups,
            Map<String, List<String>> extra,
            @Nullable String pod,
            @Nullable String newPod) {
        return new ExplanationQuestion(
                user,
                "uid-1",
                groups,
                extra,
                pod == null ? null : new PodName("team-a", pod),
                newPod,
                5);
    }

    private static String about(String pod) {
        return JSON.writeValueAsString(question("ada", List.of(), Map.of(), pod, null));
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(
                URI.create("https://127.0.0.1:%d%s".formatted(connector.port(), path)));
    }

    private HttpResponse<String> send(HttpRequest.Builder request)
            throws IOException, InterruptedException {
        return send(request, authority.certificate());
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, X509Certificate trusted)
            throws IOException, InterruptedException {
        try (HttpClient http =
                HttpClient.newBuilder().sslContext(ClientTls.of(null, trusted)).build()) {
            return http.send(request.build(), BodyHandlers.ofString());
        }
    }

    private static String bearer(String account) {
        return "Bearer %s@%s".formatted(account, Names.EXPLANATIONS_AUDIENCE);
    }

    private HttpResponse<String> ask(String account, String body)
            throws IOException, InterruptedException {
        return askBy(bearer(account), body);
    }

    private HttpResponse<String> askBy(String authorization, String body)
            throws IOException, InterruptedException {
        return send(
                to("/explanations")
                        .header("Authorization", authorization)
                        .POST(BodyPublishers.ofString(body)));
    }

    private static void isText(HttpResponse<String> answer, int status, String reason) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/plain");
        assertThat(answer.headers().firstValue("Connection")).contains("close");
        assertThat(answer.body()).contains(reason);
    }

    private static void isProblem(HttpResponse<String> answer, int status, String detail) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type"))
                .contains("application/problem+json");
        assertThat(JSON.readTree(answer.body()).path("detail").asString()).contains(detail);
    }

    @Test
    void theTimekeeperIsAnswered() throws Exception {
        HttpResponse<String> answer = ask(TIMEKEEPER, about("train"));

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        Explanation read = JSON.readValue(answer.body(), Explanation.class);
        assertThat(read.name()).isEqualTo("train");
        assertThat(read.state()).isEqualTo(State.Waits);
        assertThat(read.asOf()).isEqualTo("2026-03-01T12:00:00.123456789Z");
        // What was read and is written again is the same text.
        assertThat(JSON.writeValueAsString(read)).isEqualTo(answer.body());
    }

    @Test
    void anotherAccountIsNotAnswered() throws Exception {
        for (String account :
                List.of(
                        "system:serviceaccount:gpusharing-system:gpusharing-webhook",
                        "system:serviceaccount:team-a:gpusharing-timekeeper",
                        "system:admin")) {
            isText(ask(account, about("train")), 403, TIMEKEEPER + " alone may ask");
        }
    }

    @Test
    void withoutATokenThatTheApiServerKnowsNobodyIsAnswered() throws Exception {
        HttpResponse<String> none =
                send(to("/explanations").POST(BodyPublishers.ofString(about("train"))));

        isText(none, 401, "show a token");
        assertThat(none.headers().firstValue("WWW-Authenticate")).contains("Bearer");
        isText(ask("forged-" + TIMEKEEPER, about("train")), 401, "show a token");
        isText(
                send(
                        to("/explanations")
                                .header(
                                        "Authorization",
                                        "Basic " + TIMEKEEPER + "@" + Names.EXPLANATIONS_AUDIENCE)
                                .POST(BodyPublishers.ofString(about("train")))),
                401,
                "show a token");
    }

    @Test
    void theTimekeepersTokenForAnythingElseIsNotTaken() throws Exception {
        for (String token :
                List.of(
                        TIMEKEEPER,
                        TIMEKEEPER + "@gpusharing-timekeeper",
                        TIMEKEEPER + "@https://kubernetes.default.svc")) {
            isText(
                    askBy("Bearer " + token, about("train")),
                    401,
                    "of the audience gpusharing-scheduler-explanations");
        }
    }

    @Test
    void anApiServerThatDoesNotSayForWhatATokenIsVouchesForNobody() throws Exception {
        apiServer.knowNoAudiences();

        isText(ask(TIMEKEEPER, about("train")), 401, "show a token");
    }

    @Test
    void whileNobodyReviewsTokensNobodyIsAnswered() throws Exception {
        apiServer.close();

        isText(ask(TIMEKEEPER, about("train")), 503, "the API server cannot be asked now");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/bind",
                "/filter",
                "/preempt",
                "/explanations/",
                "//explanations",
                "/./explanations",
                "/explanations;a=b",
                "/x/../explanations",
                "/%65xplanations",
                "/x/../bind",
                "/gpushare-scheduler/inspect",
                "/metrics"
            })
    void nothingElseOfTheServiceIsReachedOnThisPort(String path) throws Exception {
        HttpResponse<String> answer =
                send(
                        to(path).header("Authorization", bearer(TIMEKEEPER))
                                .POST(BodyPublishers.ofString(about("train"))));

        assertThat(answer.statusCode()).isIn(400, 404);
        assertThat(answer.body()).doesNotContain("bound");
    }

    @Test
    void aQuestionIsPosted() throws Exception {
        isText(
                send(to("/explanations").header("Authorization", bearer(TIMEKEEPER))),
                405,
                "POST alone");
    }

    @Test
    void theOtherPortIsAsItWas() throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThat(
                            http.send(
                                            HttpRequest.newBuilder(
                                                            URI.create(
                                                                    "http://127.0.0.1:%d/bind"
                                                                            .formatted(
                                                                                    server
                                                                                            .getPort())))
                                                    .build(),
                                            BodyHandlers.ofString())
                                    .body())
                    .isEqualTo("bound");
        }
    }

    @Test
    void aTooLargeQuestionIsNotRead() throws Exception {
        isProblem(
                ask(TIMEKEEPER, about("train") + " ".repeat((int) MOST.toBytes())),
                413,
                "A question has 64 KiB at most");
    }

    @Test
    void whatIsNoQuestionIsRefused() throws Exception {
        isText(ask(TIMEKEEPER, "{}"), 400, "this is no question");
        isText(ask(TIMEKEEPER, "no JSON"), 400, "this is no question");
        isText(ask(TIMEKEEPER, "null"), 400, "this is no question");
        isText(
                ask(TIMEKEEPER, about("train").replace("\"nodes\":5", "\"nodes\":51")),
                400,
                "this is no question");
    }

    /** Tomcat waits three seconds for the rest. */
    @Test
    void whoStopsInTheMiddleOfAQuestionIsLeft() throws Exception {
        try (var socket =
                (SSLSocket)
                        ClientTls.of(null, authority.certificate())
                                .getSocketFactory()
                                .createSocket("127.0.0.1", connector.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(
                            "POST /explanations HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Length: 100\r\n\r\n{"
                                    .formatted(bearer(TIMEKEEPER))
                                    .getBytes(UTF_8));

            assertThat(
                            new BufferedReader(
                                            new InputStreamReader(socket.getInputStream(), UTF_8))
                                    .readLine())
                    .startsWith("HTTP/1.1 408");
        }
    }

    @Test
    void theFourthAtOnceIsToComeAgain() throws Exception {
        var held = new CountDownLatch(1);
        explanations.held = held;
        try (HttpClient http =
                HttpClient.newBuilder()
                        .sslContext(ClientTls.of(null, authority.certificate()))
                        .build()) {
            List<CompletableFuture<HttpResponse<String>>> all =
                    IntStream.range(0, 4)
                            .mapToObj(i ->
                                    http.sendAsync(
                                            to("/explanations")
                                                    .header("Authorization", bearer(TIMEKEEPER))
                                                    .POST(BodyPublishers.ofString(about("train")))
                                                    .build(),
                                            BodyHandlers.ofString()))
                            .toList();

            HttpResponse<?> first =
                    (HttpResponse<?>)
                            CompletableFuture.anyOf(all.toArray(CompletableFuture[]::new)).get();
            held.countDown();

            assertThat(first.statusCode()).isEqualTo(503);
            assertThat(String.valueOf(first.body())).contains("ask again in a few seconds");
            assertThat(all.stream().map(it -> it.join().statusCode()))
                    .containsExactlyInAnyOrder(200, 200, 200, 503);
        }
    }

    @Test
    void whatTakesTooLongIsNotWaitedForAndIsEndedBeforeAnotherTakesItsPlace() throws Exception {
        start(Duration.ofMillis(200));
        explanations.held = new CountDownLatch(1);

        for (int i = 0; i < PlacementQuestions.AT_ONCE + 1; i++) {
            isProblem(ask(TIMEKEEPER, about("train")), 503, "takes the scheduler longer than");
        }
    }

    @Test
    void namesAreShownByTheRightsOfThePersonAndNotOfTheTimekeeper() throws Exception {
        ExplanationQuestion tenant =
                question(
                        "ada",
                        List.of("may-get-pods", "system:authenticated"),
                        Map.of("scopes.example.com", List.of("user:info", "user:full")),
                        "train",
                        null);

        assertThat(ask(TIMEKEEPER, JSON.writeValueAsString(tenant)).body())
                .contains("shown: [team-a, team-b]");
        assertThat(ask(TIMEKEEPER, about("train")).body()).contains("shown: []");
        JsonNode asked =
                apiServer.rightsAsked.stream()
                        .filter(it -> it.at("/groups/0").asString("").equals("may-get-pods"))
                        .filter(it ->
                                it.at("/resourceAttributes/resource").asString().equals("pods"))
                        .findFirst()
                        .orElseThrow();
        assertThat(asked.toString())
                .contains(
                        "\"user\":\"ada\"",
                        "\"uid\":\"uid-1\"",
                        "\"groups\":[\"may-get-pods\",\"system:authenticated\"]",
                        "\"extra\":{\"scopes.example.com\":[\"user:info\",\"user:full\"]}");
        assertThat(asked.at("/resourceAttributes").toString())
                .contains("\"verb\":\"get\"", "\"namespace\":\"team-a\"");
        // Nobody is asked what the timekeeper may see.
        assertThat(apiServer.rightsAsked)
                .noneSatisfy(it -> assertThat(it.toString()).contains(TIMEKEEPER));
    }

    @Test
    void whereRightsCannotBeReviewedNothingIsSaid() throws Exception {
        explanations.failure = new KubernetesClientException("away");

        isProblem(ask(TIMEKEEPER, about("train")), 503, "The API server cannot be asked now");
    }

    @Test
    void aReplicaThatHasNotReadTheClusterSaysSo() throws Exception {
        known = false;

        isProblem(ask(TIMEKEEPER, about("train")), 503, "still reading the cluster");
    }

    @Test
    void aPodThatIsNotThereIsNotFound() throws Exception {
        isProblem(ask(TIMEKEEPER, about("nobody")), 404, "There is no pod nobody in team-a");
    }

    @Test
    void aNewPodIsReadWhole() throws Exception {
        String pod =
                """
                {"apiVersion":"v1","kind":"Pod","metadata":{"name":"later","namespace":"team-a","uid":"1"},
                 "spec":{"nodeSelector":{"zone":"a"},"containers":[],"volumes":[{"name":"data"}]}}
                """;

        HttpResponse<String> answer =
                ask(
                        TIMEKEEPER,
                        JSON.writeValueAsString(question("ada", List.of(), Map.of(), null, pod)));

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        Pod read = Objects.requireNonNull(explanations.newPod);
        assertThat(read.getSpec().getNodeSelector()).containsEntry("zone", "a");
        assertThat(read.getSpec().getVolumes()).hasSize(1);
    }

    @Test
    void aNewPodThatIsNoneIsRefusedInWords() throws Exception {
        isProblem(
                ask(
                        TIMEKEEPER,
                        JSON.writeValueAsString(
                                question(
                                        "ada",
                                        List.of(),
                                        Map.of(),
                                        null,
                                        "{\"spec\":{\"containers\":1}}"))),
                422,
                "The pod cannot be read");
    }

    @Test
    void whatNobodyHasThoughtOfIsNotTakenForTheAnswer() throws Exception {
        explanations.failure = new IllegalStateException("a secret");

        HttpResponse<String> answer = ask(TIMEKEEPER, about("train"));

        isText(answer, 500, "this should not happen");
        assertThat(answer.body()).doesNotContain("secret");
    }

    @Test
    void aClientThatTrustsAnotherAuthoritySendsNothing() {
        X509Certificate other =
                CertificateAuthority.create("test", now, Duration.ofDays(1)).certificate();

        assertThatThrownBy(() ->
                        send(
                                to("/explanations")
                                        .header("Authorization", bearer(TIMEKEEPER))
                                        .POST(BodyPublishers.ofString(about("train"))),
                                other))
                .isInstanceOf(SSLHandshakeException.class);
        assertThat(apiServer.tokenReviews()).isZero();
    }

    @Test
    void nothingIsServedInPlainText() {
        assertThatThrownBy(
                        () -> {
                            try (HttpClient http = HttpClient.newHttpClient()) {
                                HttpResponse<String> answer =
                                        http.send(
                                                HttpRequest.newBuilder(
                                                                URI.create(
                                                                        "http://127.0.0.1:%d/explanations"
                                                                                .formatted(
                                                                                        connector
                                                                                                .port())))
                                                        .build(),
                                                BodyHandlers.ofString());
                                if (answer.statusCode() == 400) {
                                    throw new ConnectException("This combination requires TLS");
                                }
                            }
                        })
                .isInstanceOf(IOException.class);
    }
}

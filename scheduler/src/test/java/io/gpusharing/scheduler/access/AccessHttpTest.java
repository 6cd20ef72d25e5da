package io.gpusharing.scheduler.access;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.Names;
import io.gpusharing.scheduler.SchedulerApplication;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.PublishedAuthority;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.web.testing.ClientAuthority;
import io.gpusharing.web.testing.ClientTls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLSocket;
import org.apache.catalina.valves.RemoteIpValve;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.boot.web.server.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The whole service, as the chart starts it for the cluster's own kube-scheduler, over TLS. */
class AccessHttpTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final List<String> PROPERTIES =
            List.of(
                    "kubernetes.master",
                    "kubernetes.auth.tryKubeConfig",
                    "kubernetes.auth.tryServiceAccount");

    private static ClientAuthority cluster;
    private static ServerIdentity scheduler;
    private static ReviewingApiServer apiServer;
    private static ConfigurableApplicationContext context;
    private static int port;
    private static X509Certificate servedBy;

    /** The extender's own, then the one for probes and metrics. */
    private static final List<TomcatWebServer> servers = new ArrayList<>();

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        cluster = new ClientAuthority(Instant.now());
        scheduler = cluster.client("CN=system:kube-scheduler");
        apiServer = new ReviewingApiServer();
        apiServer.trust(cluster.certificate());
        System.setProperty(PROPERTIES.get(0), apiServer.url());
        System.setProperty(PROPERTIES.get(1), "false");
        System.setProperty(PROPERTIES.get(2), "false");
        context =
                new SpringApplicationBuilder(SchedulerApplication.class)
                        .profiles("extender")
                        .initializers(it ->
                                it.addApplicationListener(event -> {
                                    if (event instanceof ServletWebServerInitializedEvent begun) {
                                        servers.add((TomcatWebServer) begun.getWebServer());
                                    }
                                }))
                        .run(
                                "--spring.main.cloud-platform=kubernetes",
                                "--server.port=0",
                                "--server.address=127.0.0.1",
                                "--gpusharing.scheduler.explanations.port=0",
                                "--management.server.port=0",
                                "--management.server.address=127.0.0.1",
                                "--gpusharing.scheduler.access.subject-alternative-names=127.0.0.1");
        port =
                Objects.requireNonNull(
                                ((ServletWebServerApplicationContext) context).getWebServer())
                        .getPort();
        for (int i = 0; i < 300 && !isReady(); i++) {
            Thread.sleep(100);
        }
        assertThat(isReady()).isTrue();
        servedBy = Pem.certificates(apiServer.published()).getFirst();
    }

    /** As the kubelet asks, in plain HTTP. */
    private static int asKubelet(String path) throws IOException, InterruptedException {
        String management = context.getEnvironment().getProperty("local.management.port");
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(
                                            URI.create(
                                                    "http://127.0.0.1:%s%s"
                                                            .formatted(management, path)))
                                    .build(),
                            BodyHandlers.discarding())
                    .statusCode();
        }
    }

    private static boolean isReady() throws IOException, InterruptedException {
        return asKubelet("/readyz") == 200;
    }

    @AfterAll
    static void end() {
        context.close();
        apiServer.close();
        PROPERTIES.forEach(System::clearProperty);
    }

    private static HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("https://127.0.0.1:%d%s".formatted(port, path)));
    }

    private static HttpResponse<String> send(
            @Nullable ServerIdentity client, HttpRequest.Builder request)
            throws IOException, InterruptedException {
        try (HttpClient http =
                HttpClient.newBuilder().sslContext(ClientTls.of(client, servedBy)).build()) {
            return http.send(request.build(), BodyHandlers.ofString());
        }
    }

    private static HttpResponse<String> ask(@Nullable ServerIdentity client, String path)
            throws IOException, InterruptedException {
        return send(
                client,
                to(path).header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(question())));
    }

    private static String question() throws IOException {
        try (InputStream in =
                AccessHttpTest.class.getResourceAsStream("/recorded/filter-1.36.3.json")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
        }
    }

    private static HttpResponse<String> look(String token, String path)
            throws IOException, InterruptedException {
        return send(null, to(path).header("Authorization", "Bearer " + token));
    }

    private static void assertRefused(HttpResponse<String> answer, int status, String reason) {
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.body()).contains(reason);
    }

    @Test
    void administratorsAreToldWhetherAPartFails() throws Exception {
        assertThat(asKubelet("/health/parts")).isEqualTo(200);
    }

    @Test
    void theHeapSaysHowManyClientsMayBeConnected() {
        assertThat(servers)
                .extracting(it -> it.getTomcat().getConnector().getProperty("maxConnections"))
                // As many more may wait.
                .containsExactlyInAnyOrder(2 * HeapShares.ofThisProcess().connections(), 2 * 64);
    }

    @Test
    void kubeSchedulerIsAnsweredByItsCertificate() throws Exception {
        HttpResponse<String> answer = ask(scheduler, "/filter");

        assertThat(answer.statusCode()).isEqualTo(200);
        // It has not passed admission, whose label we follow pods by.
        assertThat(answer.body()).contains("this one has no label gpusharing.io/metered");
    }

    /** A tenant may write its pod's managed fields; the API server stores what parses as a set. */
    @Test
    void aPodsManagedFieldsHoweverDeepKeepItNotFromBeingRead() throws Exception {
        String fields = "{\"f:a\":".repeat(5_000) + "{}" + "}".repeat(5_000);

        HttpResponse<String> answer =
                send(
                        scheduler,
                        to("/filter")
                                .header("Content-Type", "application/json")
                                .POST(
                                        BodyPublishers.ofString(
                                                question()
                                                        .replace(
                                                                "\"annotations\":",
                                                                "\"managedFields\":[{\"fieldsV1\":%s}],\"annotations\":"
                                                                        .formatted(fields)))));

        assertThat(answer.body()).contains("this one has no label gpusharing.io/metered");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/filter", "/preempt", "/bind"})
    void withoutACertificateNobodyIsAnswered(String path) throws Exception {
        HttpResponse<String> answer = ask(null, path);

        assertRefused(answer, 401, "show a client certificate");
        assertThat(answer.headers().firstValue("Connection")).contains("close");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/filter", "/preempt", "/bind"})
    void noTokenHelps(String path) throws Exception {
        assertRefused(
                send(
                        null,
                        to(path).header("Authorization", "Bearer may-get-nodes")
                                .POST(BodyPublishers.ofString(question()))),
                401,
                "show a client certificate");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/filter", "/preempt", "/bind"})
    void anotherAuthorityOfTheSameNameVouchesForNobody(String path) throws Exception {
        assertRefused(
                ask(new ClientAuthority(Instant.now()).client("CN=system:kube-scheduler"), path),
                401,
                "nobody known here vouches for it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/filter", "/preempt", "/bind"})
    void whoeverElseTheClusterKnowsMayNotAsk(String path) throws Exception {
        for (String subject :
                List.of(
                        "O=system:masters,CN=kubernetes-admin",
                        "CN=system:kube-scheduler2",
                        "O=system:kube-scheduler,CN=ada")) {
            assertRefused(ask(cluster.client(subject), path), 403, "may not ask where pods go");
        }
    }

    @Test
    void aCertificateThatIsOverOrAServersIsNone() throws Exception {
        assertRefused(
                ask(cluster.expired("CN=system:kube-scheduler"), "/bind"), 401, "is not valid now");
        assertRefused(
                ask(cluster.server("CN=system:kube-scheduler"), "/bind"), 401, "is no client's");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/error",
                "/filter/",
                "//filter",
                "/./filter",
                "/x/../filter",
                "/filter;jsessionid=1",
                "/%66ilter",
                "/Filter",
                "/health",
                "/metrics",
                "/gpushare-scheduler",
                "/gpushare-scheduler/bind",
                "/gpushare-scheduler/inspect/",
                "/gpushare-scheduler/inspect/..",
                "/gpushare-scheduler/inspect/../../bind",
                "/gpushare-scheduler/inspect/%2e%2e",
                "/gpushare-scheduler/inspect/a/b"
            })
    void anAddressIsReadInOneWayOrNotAtAll(String path) throws Exception {
        for (ServerIdentity client : new @Nullable ServerIdentity[] {null, scheduler}) {
            assertThat(ask(client, path).statusCode()).isIn(400, 404);
            assertThat(look("may-get-nodes", path).statusCode()).isIn(400, 404);
        }
    }

    @Test
    void methodsThatChangeNothingChangeNothing() throws Exception {
        assertThat(send(scheduler, to("/bind")).statusCode()).isEqualTo(405);
        assertThat(ask(scheduler, "/gpushare-scheduler/inspect").statusCode()).isEqualTo(405);
    }

    /** Sends the head of a question alone. */
    private static String statusOf(@Nullable ServerIdentity client, String length)
            throws IOException {
        try (var socket =
                (SSLSocket)
                        ClientTls.of(client, servedBy)
                                .getSocketFactory()
                                .createSocket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(
                            "POST /filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n\r\n"
                                    .formatted(length)
                                    .getBytes(UTF_8));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8))
                    .readLine();
        }
    }

    @Test
    void aGibibyteIsNotReadWhoeverSendsIt() throws Exception {
        String gibibyte = "Content-Length: 1073741824";

        assertThat(statusOf(null, gibibyte)).startsWith("HTTP/1.1 401");
        assertThat(statusOf(scheduler, gibibyte)).startsWith("HTTP/1.1 413");
        assertThat(statusOf(scheduler, "Transfer-Encoding: chunked")).startsWith("HTTP/1.1 411");
    }

    @Test
    void anotherClientAuthorityIsFollowed() throws Exception {
        var next = new ClientAuthority(Instant.now());
        ServerIdentity successor = next.client("CN=system:kube-scheduler");
        try {
            apiServer.trust(next.certificate());
            context.getBean(ClientAuthorities.class).readClusters();

            assertThat(ask(successor, "/filter").statusCode()).isEqualTo(200);
            assertThat(ask(scheduler, "/filter").statusCode()).isEqualTo(401);
        } finally {
            apiServer.trust(cluster.certificate());
            context.getBean(ClientAuthorities.class).readClusters();
        }
    }

    @Test
    void clientsAreStillAskedForTheirCertificatesOnceOursIsRenewed() throws Exception {
        X509Certificate before = servedBy;
        ServingCertificate serving = context.getBean(ServingCertificate.class);
        var other = CertificateAuthority.create("other", Instant.now(), Duration.ofDays(1));
        try {
            serving.renew(other, Instant.now());
            servedBy = other.certificate();

            assertThat(ask(scheduler, "/filter").statusCode()).isEqualTo(200);
            assertThat(ask(null, "/filter").statusCode()).isEqualTo(401);
        } finally {
            servedBy = before;
            serving.renew(
                    context.getBean(PublishedAuthority.class).read(Instant.now()), Instant.now());
        }
    }

    @Test
    void whoMayGetNodesSeesWhoHasTheirGpus() throws Exception {
        JsonNode node =
                JSON.readTree(
                        """
                        {"name": "gpu-node-1", "totalGPU": 15, "usedGPU": 0,
                         "devs": [{"id": 0, "totalGPU": 15, "usedGPU": 0, "pods": []}]}
                        """);

        for (String path : List.of("", "/gpu-node-1")) {
            HttpResponse<String> answer =
                    look("may-get-nodes-may-list-pods", "/gpushare-scheduler/inspect" + path);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(JSON.readTree(answer.body()))
                    .isEqualTo(
                            JSON.createObjectNode().set("nodes", JSON.createArrayNode().add(node)));
        }
        assertThat(look("may-get-nodes", "/gpushare-scheduler/inspect/other").body())
                .isEqualTo("{\"nodes\":[],\"error\":\"node other shares no GPUs\"}");
    }

    @Test
    void whoMayNotListPodsSeesNone() throws Exception {
        for (String path : List.of("", "/gpu-node-1")) {
            assertThat(look("may-get-nodes", "/gpushare-scheduler/inspect" + path).body())
                    .contains("{\"id\":0,\"totalGPU\":15,\"usedGPU\":0}");
        }
        assertThat(apiServer.rightsAsked)
                .anySatisfy(asked ->
                        assertThat(asked.at("/resourceAttributes").toString())
                                .isEqualTo(
                                        "{\"group\":\"\",\"resource\":\"pods\",\"verb\":\"list\"}"));
        assertThat(look("may-list-pods", "/gpushare-scheduler/inspect").statusCode())
                .isEqualTo(403);
    }

    @Test
    void aClientOfTheClusterLooksByItsCertificate() throws Exception {
        HttpResponse<String> answer =
                send(cluster.client("O=may-get-nodes,CN=ada"), to("/gpushare-scheduler/inspect"));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(apiServer.rightsAsked)
                .anySatisfy(asked -> {
                    assertThat(asked.at("/user").asString()).isEqualTo("ada");
                    assertThat(asked.at("/groups").toString())
                            .isEqualTo("[\"may-get-nodes\",\"system:authenticated\"]");
                    assertThat(asked.at("/resourceAttributes/resource").asString())
                            .isEqualTo("nodes");
                    assertThat(asked.at("/resourceAttributes/verb").asString()).isEqualTo("get");
                });
        assertThat(send(cluster.client("CN=bob"), to("/gpushare-scheduler/inspect")).statusCode())
                .isEqualTo(403);
    }

    @Test
    void aStrangerSeesNothing() throws Exception {
        String path = "/gpushare-scheduler/inspect";

        HttpResponse<String> nobody = send(null, to(path));
        assertRefused(nobody, 401, "show a token that the API server knows");
        assertThat(nobody.headers().firstValue("WWW-Authenticate")).contains("Bearer");
        assertRefused(look("forged", path), 401, "show a token that the API server knows");
        assertRefused(look("ada", path), 403, "this needs the right to get nodes");
        assertRefused(
                send(new ClientAuthority(Instant.now()).client("O=may-get-nodes,CN=ada"), to(path)),
                401,
                "show a token that the API server knows");
        // A certificate besides does not make a bad token good.
        assertThat(
                        send(
                                        cluster.client("O=may-get-nodes,CN=ada"),
                                        to(path).header("Authorization", "Bearer forged"))
                                .statusCode())
                .isEqualTo(401);
    }

    @Test
    void theTimekeeperIsAnsweredOnAPortOfItsOwnAndNowhereElse() throws Exception {
        int own = context.getBean(ExplanationsConnector.class).port();
        String token = "system:serviceaccount:gpusharing-system:gpusharing-timekeeper";
        String question =
                "{\"user\":\"ada\",\"uid\":\"\",\"groups\":[],\"extra\":{},\"pod\":{\"namespace\":\"a\",\"name\":\"b\"},\"nodes\":0}";
        for (int there : List.of(own, port)) {
            assertRefused(
                    explain(there, token + "@" + Names.EXPLANATIONS_AUDIENCE, question),
                    404,
                    there == own ? "There is no pod b in a" : "there is nothing at this address");
        }
        assertRefused(explain(own, token, question), 401, "of the audience");
    }

    private static HttpResponse<String> explain(int port, String token, String question)
            throws Exception {
        return send(
                null,
                HttpRequest.newBuilder(
                                URI.create("https://127.0.0.1:%d/explanations".formatted(port)))
                        .header("Authorization", "Bearer " + token)
                        .POST(BodyPublishers.ofString(question)));
    }

    @Test
    void kubeSchedulerIsNotAnsweredThere() throws Exception {
        int own = context.getBean(ExplanationsConnector.class).port();
        for (String path : List.of("/bind", "/filter", "/preempt", "/gpushare-scheduler/inspect")) {
            assertRefused(
                    send(
                            scheduler,
                            HttpRequest.newBuilder(
                                            URI.create(
                                                    "https://127.0.0.1:%d%s".formatted(own, path)))
                                    .header("Authorization", "Bearer may-get-nodes")
                                    .POST(BodyPublishers.ofString(question()))),
                    404,
                    "there is nothing at this address");
        }
    }

    @Test
    void noHeaderSaysWhereAQuestionComesFrom() {
        var server =
                (TomcatWebServer)
                        Objects.requireNonNull(
                                ((ServletWebServerApplicationContext) context).getWebServer());

        assertThat(server.getTomcat().getEngine().getPipeline().getValves())
                .doesNotHaveAnyElementsOfTypes(RemoteIpValve.class);
    }
}

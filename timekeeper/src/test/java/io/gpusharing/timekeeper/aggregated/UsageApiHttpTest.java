package io.gpusharing.timekeeper.aggregated;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import io.gpusharing.timekeeper.audit.VerificationRepository;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.GpuNodes;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.posting.ModelWeights;
import io.gpusharing.timekeeper.statement.NewPods;
import io.gpusharing.timekeeper.statement.PodCharges;
import io.gpusharing.timekeeper.statement.QuoteAnswers;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.gpusharing.timekeeper.usage.MeasuredUse;
import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.GpuProcess;
import io.gpusharing.timekeeper.usage.UsageReport.PodProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.Running;
import io.gpusharing.timekeeper.web.TrustBundle;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.web.testing.ClientAuthority;
import io.gpusharing.web.testing.ClientTls;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.StreamSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Over TLS, on a real database, asked as an API server asks. */
class UsageApiHttpTest {

    private static final String API = "/apis/usage.gpusharing.io/v1alpha1";
    private static final String TABLE =
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final TestDatabase DATABASE = TestDatabase.create();

    private static final UnreadableObjects UNREADABLE = new UnreadableObjects(object -> {});

    private static CertificateAuthority ours;
    private static ServerIdentity served;
    private static ClientAuthority proxies;
    private static ServerIdentity proxy;
    private static AskedApiServer apiServer;
    private static ServletWebServerApplicationContext context;

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @ConfigurationPropertiesScan("io.gpusharing.timekeeper.aggregated")
    @ComponentScan(
            basePackages = {"io.gpusharing.timekeeper.aggregated", "io.gpusharing.timekeeper.web"},
            excludeFilters =
                    @ComponentScan.Filter(
                            type = FilterType.REGEX,
                            pattern =
                                    ".*(Test.*|Explanations|ApiDescription|ReportingAuthority|ServingCertificateTask|TlsConfiguration|LoggersConfiguration)"))
    @Import({
        PodCharges.class,
        MeasuredUse.class,
        RunningProcesses.class,
        NewPods.class,
        QuoteAnswers.class,
        VerificationRepository.class
    })
    static class Application {

        // Other tests go on with it.
        @Bean(destroyMethod = "")
        DataSource dataSource() {
            return DATABASE.dataSource();
        }

        @Bean
        ClusterDatabase rows() {
            return DATABASE.rows();
        }

        @Bean
        Clock clock() {
            return Clock.systemUTC();
        }

        @Bean
        UnreadableObjects unreadableObjects() {
            return UNREADABLE;
        }

        @Bean
        Leadership leadership() {
            return Leadership.alone();
        }

        @Bean
        Budgets budgets(Clock clock) {
            return TestBudgets.on(DATABASE, Duration.ofHours(1), clock);
        }

        @Bean
        RequestGrammars grammars() {
            return RequestGrammars.of(RequestGrammars.names(), List.of());
        }

        /** An H200 costs twice an A30. */
        @Bean
        ModelWeights weights() {
            return new ModelWeights(
                    new Weights(
                            1_000_000,
                            List.of(
                                    new OfModel("A30", 1_000_000, Instant.EPOCH),
                                    new OfModel("H200", 2_000_000, Instant.EPOCH))),
                    new SimpleMeterRegistry());
        }

        @Bean
        GpuNodes nodes() {
            return () -> List.of(node("H200"), node("A30"), node("A30"));
        }

        private static NodeFacts node(String model) {
            return new NodeFacts(
                    Map.of(
                            VcudaGrammar.CORE, Quantity.of(100),
                            VcudaGrammar.MEMORY, Quantity.of(96)),
                    Map.of("nvidia.com/gpu.product", model));
        }

        @Bean
        TrustBundle trust() {
            return () -> Pem.of(ours.certificate());
        }

        @Bean
        static SslBundleRegistrar served() {
            return registry ->
                    registry.registerBundle("timekeeper", ServingCertificate.bundle(served));
        }

        @Bean(destroyMethod = "close")
        KubernetesClient kubernetesClient() {
            return new KubernetesClientBuilder()
                    .withKubernetesSerialization(ApiServerJson.serialization())
                    .withConfig(
                            new ConfigBuilder()
                                    .withAutoConfigure(false)
                                    .withMasterUrl(apiServer.url())
                                    // What fails is tried again as often as ever, but sooner.
                                    .withRequestRetryBackoffInterval(1)
                                    .build())
                    .build();
        }
    }

    @BeforeAll
    static void start() throws IOException {
        Instant now = Instant.now();
        ours = CertificateAuthority.create("ours", now, Duration.ofDays(1));
        served = ours.issue(List.of("127.0.0.1"), now, Duration.ofDays(1));
        proxies = new ClientAuthority(now);
        proxy = proxies.client("CN=front-proxy-client");
        DATABASE.rows()
                .sql(
                        "insert into cluster (id, metering_start) values (:cluster, now()) on conflict do nothing returning id")
                .query(String.class)
                .optional();
        apiServer = new AskedApiServer();
        apiServer.passesOnBy(proxies.certificate());
        context =
                (ServletWebServerApplicationContext)
                        new SpringApplicationBuilder(Application.class)
                                .properties(
                                        "spring.config.location=optional:classpath:/none/",
                                        "server.port=0",
                                        "server.tomcat.max-connections=20",
                                        "server.ssl.bundle=timekeeper",
                                        "gpusharing.cluster.namespace=gpusharing-system",
                                        "gpusharing.aggregated.enabled=true",
                                        "gpusharing.aggregated.port=0",
                                        "spring.flyway.enabled=false",
                                        "spring.mvc.problemdetails.enabled=true")
                                .run();
        await("it knows the API server")
                .until(() -> ask(proxy, "admin", "/apis").statusCode() == 200);
    }

    @AfterAll
    static void stop() {
        context.close();
        apiServer.close();
    }

    private UUID train = new UUID(0, 0);

    @BeforeEach
    void pods() {
        DATABASE.jdbc().sql("delete from pod_allocation").update();
        DATABASE.jdbc().sql("delete from process_report").update();
        train = hold("team-a", "train", "n1", 500_000);
        hold("team-a", "serve", "n2", 1_000_000);
        hold("team-b", "train", "n1", 250_000);
    }

    private static UUID hold(String namespace, String name, String node, long micros) {
        return DATABASE.rows()
                .sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, share_known,
                            compute_part, compute_numerator, compute_denominator,
                            memory_part, memory_numerator, memory_denominator,
                            budget, share_rate, rate, held_from, posted_until, charged_until)
                        values (:cluster, :uid, :namespace, :name, :node, true,
                            :micros, :micros, 1000000, :micros, :micros, 1000000, :namespace, :micros, :micros,
                            now() - interval '10 minutes', now() - interval '10 minutes', now() - interval '10 minutes')
                        returning pod_uid
                        """)
                .param("uid", UUID.randomUUID())
                .param("namespace", namespace)
                .param("name", name)
                .param("node", node)
                .param("micros", micros)
                .query(UUID.class)
                .single();
    }

    /**
     * @param client whose certificate is shown; null for none
     * @param user whom the headers name; empty for nobody
     */
    private static HttpResponse<String> ask(
            @Nullable ServerIdentity client, String user, String path, String... headers)
            throws IOException, InterruptedException {
        return askAt(port(1), client, user, path, headers);
    }

    /** Of the port for everybody, or of the API server's. */
    private static int port(int connector) {
        var server = (TomcatWebServer) Objects.requireNonNull(context.getWebServer());
        return server.getTomcat().getService().findConnectors()[connector].getLocalPort();
    }

    private static HttpResponse<String> askAt(
            int port, @Nullable ServerIdentity client, String user, String path, String... headers)
            throws IOException, InterruptedException {
        return send(port, client, user, path, null, headers);
    }

    private static HttpResponse<String> post(String user, String path, String body)
            throws IOException, InterruptedException {
        return send(port(1), proxy, user, path, body, "Content-Type", "application/json");
    }

    /**
     * @param body null for none
     */
    private static HttpResponse<String> send(
            int port,
            @Nullable ServerIdentity client,
            String user,
            String path,
            @Nullable String body,
            String... headers)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path));
        if (!user.isEmpty()) {
            request.header("X-Remote-User", user).header("X-Remote-Group", "people");
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        if (body != null) {
            request.POST(BodyPublishers.ofString(body));
        }
        try (HttpClient http =
                HttpClient.newBuilder()
                        .sslContext(ClientTls.of(client, ours.certificate()))
                        .build()) {
            return http.send(request.build(), BodyHandlers.ofString());
        }
    }

    private static JsonNode answered(String user, String path, String... headers)
            throws IOException, InterruptedException {
        HttpResponse<String> answer = ask(proxy, user, path, headers);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        return JSON.readTree(answer.body());
    }

    private static List<String> names(JsonNode list) {
        return StreamSupport.stream(list.path("items").spliterator(), false)
                .map(item ->
                        "%s/%s"
                                .formatted(
                                        item.at("/metadata/namespace").asString(),
                                        item.at("/metadata/name").asString()))
                .toList();
    }

    private static void isStatus(HttpResponse<String> answer, int code, String... words) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(code);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        JsonNode status = JSON.readTree(answer.body());
        assertThat(status.path("kind").asString()).isEqualTo("Status");
        assertThat(status.path("code").asInt()).isEqualTo(code);
        assertThat(List.of(words))
                .allSatisfy(word -> assertThat(status.path("message").asString()).contains(word));
    }

    @Test
    void aTenantSeesThePodsOfItsNamespaceAndNoOthers() throws Exception {
        assertThat(names(answered("ada", API + "/namespaces/team-a/podusages")))
                .containsExactly("team-a/serve", "team-a/train");
        isStatus(
                ask(proxy, "ada", API + "/namespaces/team-b/podusages"),
                403,
                "User \"ada\" cannot list resource \"podusages\"",
                "in the namespace \"team-b\"");
        isStatus(ask(proxy, "ada", API + "/podusages"), 403, "at the cluster scope");
        assertThat(names(answered("admin", API + "/podusages")))
                .containsExactly("team-a/serve", "team-a/train", "team-b/train");
    }

    @Test
    void whoMaySeeOneByNameIsShownThatOne() throws Exception {
        String pods = API + "/namespaces/team-a/podusages";

        assertThat(answered("nina", pods + "/train").at("/metadata/name").asString())
                .isEqualTo("train");
        assertThat(names(answered("nina", pods + "?fieldSelector=metadata.name%3Dtrain")))
                .containsExactly("team-a/train");
        isStatus(ask(proxy, "nina", pods + "/serve"), 403);
        isStatus(ask(proxy, "nina", pods + "?fieldSelector=metadata.name!%3Dtrain"), 403);
        isStatus(
                ask(proxy, "nina", pods + "?fieldSelector=metadata.name%3Dtrain,status.node%3Dn1"),
                403);
    }

    @Test
    void onePodSaysWhatItHoldsAndWhatItWasCharged() throws Exception {
        JsonNode pod = answered("ada", API + "/namespaces/team-a/podusages/train");

        assertThat(pod.path("kind").asString()).isEqualTo("PodUsage");
        assertThat(pod.at("/metadata/labels/gpusharing.io~1budget").asString()).isEqualTo("team-a");
        assertThat(pod.at("/status/gpus").asString()).isEqualTo("0.5");
        assertThat(pod.at("/status/chargedMinutes").asString()).startsWith("5.0");
        assertThat(pod.at("/status").has("measured")).isFalse();
        isStatus(
                ask(proxy, "ada", API + "/namespaces/team-a/podusages/none"),
                404,
                "podusages.usage.gpusharing.io \"none\" not found");
    }

    private static final String HALF =
            "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"half\"}, \"spec\": {\"containers\": [{\"name\": \"cuda\", \"resources\": {\"limits\": {\"tencent.com/vcuda-core\": 50, \"tencent.com/vcuda-memory\": 24}}}]}}";

    private static String quote(String spec) {
        return "{\"apiVersion\": \"usage.gpusharing.io/v1alpha1\", \"kind\": \"Quote\", \"metadata\": {\"name\": \"would\"}, \"spec\": %s}"
                .formatted(spec);
    }

    @Test
    void whoMayMakePodsIsToldWhatTheyWouldCostOnEachModel() throws Exception {
        HttpResponse<String> answer =
                post(
                        "ada",
                        API + "/namespaces/team-a/quotes",
                        quote("{\"newPod\": %s, \"for\": \"3h\"}".formatted(HALF)));

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        JsonNode quoted = JSON.readTree(answer.body());
        assertThat(quoted.path("kind").asString()).isEqualTo("Quote");
        assertThat(quoted.at("/metadata/name").asString()).isEqualTo("would");
        assertThat(quoted.at("/spec/newPod/kind").asString()).isEqualTo("Pod");
        assertThat(quoted.at("/spec/for").asString()).isEqualTo("3h");
        assertThat(quoted.at("/status/summary").asString())
                .isEqualTo(
                        "Yes: 1 pod is charged as 0.5 to 1 GPU, by the node: up to 60.000 GPU-minutes an hour, 180.000 in all. No budget pays for the namespace");
        assertThat(quoted.at("/status/prices"))
                .extracting(it -> it.path("model").asString() + " " + it.path("gpus").asString())
                .containsExactly("H200 1", "A30 0.5");
    }

    @Test
    void manyPodsAreQuotedAsTheirWorkloadRunsThem() throws Exception {
        String answer =
                post(
                                "ada",
                                API + "/namespaces/team-a/quotes",
                                quote(
                                        "{\"newPod\": %s, \"pods\": 4, \"atOnce\": 2, \"activeDeadlineSeconds\": 7200, \"for\": \"3h\"}"
                                                .formatted(HALF)))
                        .body();

        assertThat(JSON.readTree(answer).at("/status/summary").asString())
                .startsWith("Yes: 4 pods, 2 at once, are charged as 1 to 2 GPUs")
                .contains("240.000 in all");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    {"newPod": {"kind": "Pod"}, "untill": "3h"}      | 422 | There is no field untill
                    {"manifest": {"kind": "Pod"}}                    | 422 | There is no field manifest
                    {"for": "3h"}                                    | 422 | spec has a newPod
                    {"newPod": null}                                 | 422 | spec has a newPod
                    {"newPod": "kind: Pod"}                          | 422 | no object with metadata and spec
                    {"newPod": {"kind": "Secret"}}                   | 422 | kind is Secret; use a Pod, as kubectl create
                    {"newPod": {"kind": "Pod"}, "for": "soon"}       | 422 | "soon" is no length of time; write for instance 90m
                    {"newPod": {"kind": "Pod"}}                      | 422 | spec.containers is empty
                    {"newPod": {"spec": {"containers": [{"name": "c"}]}}, "pods": 2, "atOnce": 3} | 422 | 3 of 2 pods cannot run at once
                    {"newPod": {"spec": {"containers": [{"name": "c"}]}}, "pods": 2.5}            | 422 | pods
                    {"newPod": {"spec": {"activeDeadlineSeconds": -1, "containers": [{"name": "c"}]}}} | 422 | spec.activeDeadlineSeconds is -1
                    """)
    void whatCannotBeQuotedIsSaid(String spec, int code, String problem) throws Exception {
        isStatus(post("ada", API + "/namespaces/team-a/quotes", quote(spec)), code, problem);
    }

    @Test
    void nobodyElseIsQuotedAnythingAndNobodyTooMuch() throws Exception {
        String spec = quote("{\"newPod\": %s}".formatted(HALF));

        isStatus(
                post("ada", API + "/namespaces/team-b/quotes", spec),
                403,
                "cannot create resource \"quotes\"");
        isStatus(
                post(
                        "ada",
                        API + "/namespaces/team-a/quotes",
                        spec.replace("\"would\"", "\"would\", \"namespace\": \"team-b\"")),
                400,
                "metadata.namespace is team-b, and the question is about team-a");
        isStatus(
                post(
                        "ada",
                        API + "/namespaces/team-a/quotes",
                        spec.replace("\"would\"", "\"" + "a".repeat(5_000) + "\"")),
                413,
                "metadata of a question has 4 KiB at most");
        isStatus(
                post("ada", API + "/namespaces/team-a/quotes", " ".repeat(40_000) + spec),
                413,
                "32 KiB at most");
    }

    @Test
    void administratorsSeeWhetherTheLedgerIsSound() throws Exception {
        isStatus(ask(proxy, "ada", API + "/verifications/latest"), 403);
        isStatus(ask(proxy, "admin", API + "/verifications/first"), 404, "there is latest alone");
        isStatus(ask(proxy, "admin", API + "/verifications/latest"), 404, "not verified yet");
        assertThat(answered("admin", API + "/verifications").path("items")).isEmpty();

        DATABASE.rows()
                .sql(
                        """
                        insert into verification (cluster, report) values (:cluster,
                            '{"at": "2026-11-27T08:00:00Z", "entries": 12, "differences": [{"kind": "period", "where": "a", "stored": "1", "recomputed": "2"}]}')
                        returning cluster
                        """)
                .query(String.class)
                .single();
        var node = new NodeBuilder().withNewMetadata().withName("gpu-1").endMetadata().build();
        UNREADABLE.handOver(
                node,
                it -> {
                    throw new IllegalArgumentException("why");
                });
        JsonNode status = answered("admin", API + "/verifications/latest").path("status");
        assertThat(status.path("sound").asBoolean()).isFalse();
        assertThat(status.path("entries").asInt()).isEqualTo(12);
        assertThat(status.at("/differences/0/where").asString()).isEqualTo("a");
        assertThat(status.path("unreadable").toString())
                .isEqualTo("[{\"kind\":\"Node\",\"count\":1,\"some\":[\"gpu-1: why\"]}]");
        assertThat(
                        answered("admin", API + "/verifications", "Accept", TABLE)
                                .at("/rows/0/cells")
                                .toString())
                .isEqualTo("[\"latest\",\"false\",\"2026-11-27T08:00:00Z\",\"1\",\"12\",\"1\"]");
        UNREADABLE.forget(node);
    }

    @Test
    void kubectlIsShownATable() throws Exception {
        JsonNode table =
                answered("ada", API + "/namespaces/team-a/podusages?limit=500", "Accept", TABLE);

        assertThat(table.path("kind").asString()).isEqualTo("Table");
        assertThat(table.at("/columnDefinitions/0/format").asString()).isEqualTo("name");
        assertThat(table.at("/rows/1/object/metadata/name").asString()).isEqualTo("train");
        var cells = new ArrayList<String>();
        table.at("/rows/1/cells").forEach(cell -> cells.add(cell.asString()));
        assertThat(cells.subList(0, 3)).containsExactly("train", "0.5", "10m");
        assertThat(cells.subList(4, 7)).containsExactly("<unknown>", "team-a", "n1");
    }

    /** What the agent of {@code n1} says runs in {@code team-a/train}. */
    private void run(GpuProcess... processes) {
        run(true, on("GPU-1", processes.length, processes));
    }

    private PodProcesses on(String gpu, int count, GpuProcess... processes) {
        return new PodProcesses(train, gpu, 3, 4L << 30, count, List.of(processes));
    }

    private static void run(boolean whole, PodProcesses... pods) {
        context.getBean(RunningProcesses.class)
                .reported("n1", new Running(whole, List.of(pods)), Instant.now());
    }

    @Test
    void whatAPodRunsIsShownToWhoMayGetIt() throws Exception {
        run(new GpuProcess(7, "python", 1L << 30, 40), new GpuProcess(8, null, null, null));

        JsonNode list = answered("ada", API + "/namespaces/team-a/podprocesses");

        assertThat(names(list)).containsExactly("team-a/serve", "team-a/train");
        assertThat(list.at("/items/0/status").has("asOf")).isFalse();
        JsonNode pod = answered("ada", API + "/namespaces/team-a/podprocesses/train");
        assertThat(pod.path("kind").asString()).isEqualTo("PodProcesses");
        assertThat(pod.at("/metadata/uid").asString()).isEqualTo(train.toString());
        assertThat(pod.at("/status/node").asString()).isEqualTo("n1");
        assertThat(pod.at("/status/gpus").asString()).isEqualTo("0.5");
        assertThat(pod.at("/status/asOf").asString()).isNotEmpty();
        assertThat(pod.at("/status/devices").toString())
                .isEqualTo(
                        "[{\"uuid\":\"GPU-1\",\"index\":3,\"grantedMiB\":4096,\"processCount\":2,\"processes\":[{\"pid\":7,\"command\":\"python\",\"memoryMiB\":1024,\"busyPercent\":40},{\"pid\":8}]}]");
        isStatus(
                ask(proxy, "ada", API + "/namespaces/team-a/podprocesses/none"),
                404,
                "podprocesses.usage.gpusharing.io \"none\" not found");
    }

    @Test
    void theRightToTheLedgerIsNoneToSeeWhatPodsRun() throws Exception {
        run(new GpuProcess(7, "secret", 1L << 30, 40));

        assertThat(names(answered("rita", API + "/podusages"))).hasSize(3);
        assertThat(names(answered("rita", API + "/namespaces/team-b/podprocesses"))).hasSize(1);
        isStatus(
                ask(proxy, "rita", API + "/podprocesses"),
                403,
                "User \"rita\" cannot get resource \"pods\"",
                "at the cluster scope");
        for (String path : List.of("", "/train")) {
            isStatus(
                    ask(proxy, "rita", API + "/namespaces/team-a/podprocesses" + path),
                    403,
                    "User \"rita\" cannot get resource \"pods\"",
                    "in the namespace \"team-a\"");
        }
        isStatus(ask(proxy, "ada", API + "/namespaces/team-b/podprocesses"), 403, "cannot list");
        isStatus(ask(proxy, "ada", API + "/podprocesses"), 403, "at the cluster scope");
    }

    @Test
    void kubectlShowsWhatRunsInALineForEachPod() throws Exception {
        run(new GpuProcess(7, "python", 1L << 30, 40), new GpuProcess(9, "python", 2L << 30, 5));

        JsonNode rows =
                answered("admin", API + "/podprocesses?limit=500", "Accept", TABLE).path("rows");

        assertThat(rows.at("/0/cells").toString())
                .isEqualTo(
                        "[\"serve\",\"1\",\"<unknown>\",\"<unknown>\",\"<unknown>\",\"<unknown>\",\"n2\",\"\"]");
        assertThat(rows.at("/1/cells").toString())
                .isEqualTo("[\"train\",\"0.5\",\"2\",\"3072\",\"45%\",\"0s\",\"n1\",\"python\"]");
        assertThat(rows.at("/2/cells/2").asString())
                .as("team-b/train runs nothing on n1")
                .isEqualTo("0");
    }

    @Test
    void ofWhatIsNotKnownNothingIsMadeUp() throws Exception {
        String train =
                API + "/podprocesses?fieldSelector=metadata.namespace=team-a,metadata.name=train";
        var seven = new GpuProcess(7, "a", 1L << 30, 40);

        run(false);
        assertThat(answered("admin", train).at("/items/0/status").has("asOf"))
                .as("nothing is told of the pod, on a node of which not all is known")
                .isFalse();

        run(false, on("GPU-1", 1, seven), on("GPU-2", 1, seven));
        assertThat(answered("admin", train, "Accept", TABLE).at("/rows/0/cells/2").asString())
                .as("one process on two GPUs")
                .isEqualTo("1");

        run(true, on("GPU-1", 70, seven));
        JsonNode cells = answered("admin", train, "Accept", TABLE).at("/rows/0/cells");
        assertThat(cells.at("/2").asString()).isEqualTo("1+");
        assertThat(cells.at("/3").asString()).isEqualTo("<unknown>");
        assertThat(cells.at("/4").asString()).isEqualTo("<unknown>");
    }

    @Test
    void whatRunsIsReadPageByPageToo() throws Exception {
        JsonNode first = answered("admin", API + "/podprocesses?limit=2");
        JsonNode rest =
                answered(
                        "admin",
                        API
                                + "/podprocesses?limit=2&continue="
                                + first.at("/metadata/continue").asString());

        assertThat(names(first)).containsExactly("team-a/serve", "team-a/train");
        assertThat(names(rest)).containsExactly("team-b/train");
        assertThat(rest.path("metadata").has("continue")).isFalse();
    }

    @Test
    void aListIsReadPageByPage() throws Exception {
        var seen = new ArrayList<String>();
        String next = "";
        do {
            JsonNode page = answered("admin", API + "/podusages?limit=1&continue=" + next);
            seen.addAll(names(page));
            next = page.at("/metadata/continue").asString("");
        } while (!next.isEmpty());

        assertThat(seen).containsExactly("team-a/serve", "team-a/train", "team-b/train");
        isStatus(ask(proxy, "admin", API + "/podusages?continue=x"), 400, "continue is none");
    }

    @Test
    void whoSetsNoLimitGetsAll() throws Exception {
        JsonNode list = answered("admin", API + "/podusages");

        assertThat(names(list)).hasSize(3);
        assertThat(list.path("metadata").has("continue")).isFalse();
    }

    @Test
    void aTableHasAsMuchOfEachObjectAsIsAskedFor() throws Exception {
        String path = API + "/namespaces/team-a/podusages?includeObject=";

        assertThat(
                        answered("ada", path + "Object", "Accept", TABLE)
                                .at("/rows/0/object/status/gpus")
                                .asString())
                .isEqualTo("1");
        assertThat(answered("ada", path + "None", "Accept", TABLE).at("/rows/0/object").isNull())
                .isTrue();
    }

    @Test
    void budgetsAreChosenByNameAlone() throws Exception {
        assertThat(
                        answered("admin", API + "/budgetusages?fieldSelector=metadata.name%3Da")
                                .path("items")
                                .isEmpty())
                .isTrue();
        isStatus(
                ask(proxy, "admin", API + "/budgetusages?fieldSelector=status.node%3Da"),
                400,
                "metadata.name alone");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fieldSelector=metadata.name%3Dtrain                 | team-a/train team-b/train",
                "fieldSelector=metadata.name%3Dtrain,status.node!%3Dn1 | ",
                "fieldSelector=metadata.namespace!%3Dteam-a          | team-b/train",
                "labelSelector=gpusharing.io/node%20in%20(n2,n3)     | team-a/serve",
                "labelSelector=gpusharing.io/node%20notin%20(n2)     | team-a/train team-b/train",
                "labelSelector=gpusharing.io/budget%3Dteam-b         | team-b/train",
                "labelSelector=gpusharing.io/budget                  | team-a/serve team-a/train team-b/train",
                "labelSelector=!gpusharing.io/budget                 | ",
                "labelSelector=app%3Dweb                             | ",
                "labelSelector=app!%3Dweb                            | team-a/serve team-a/train team-b/train",
                "labelSelector=!app                                  | team-a/serve team-a/train team-b/train"
            })
    void podsAreChosenBySelectors(String query, @Nullable String expected) throws Exception {
        assertThat(String.join(" ", names(answered("admin", API + "/podusages?" + query))))
                .isEqualTo(expected == null ? "" : expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fieldSelector=spec.x%3D1", "labelSelector=a%3E3", "limit=many"})
    void whatIsNotUnderstoodIsSaid(String query) throws Exception {
        isStatus(ask(proxy, "admin", API + "/podusages?" + query), 400);
    }

    @Test
    void nothingCanBeWatched() throws Exception {
        isStatus(ask(proxy, "admin", API + "/podusages?watch=true"), 405, "watch kubectl get");
        isStatus(ask(proxy, "admin", API + "/podusages?watch=1"), 405);
        assertThat(ask(proxy, "admin", API + "/podusages?watch=0").statusCode()).isEqualTo(200);
    }

    @Test
    void whoeverElseSaysWhoHasAskedIsRefused() throws Exception {
        String path = API + "/podusages";

        isStatus(ask(null, "admin", path), 401, "kubectl get --raw " + path);
        isStatus(
                ask(
                        new ClientAuthority(Instant.now()).client("CN=front-proxy-client"),
                        "admin",
                        path),
                401);
        isStatus(ask(proxies.client("CN=someone"), "admin", path), 401);
        isStatus(ask(proxies.expired("CN=front-proxy-client"), "admin", path), 401);
        isStatus(ask(proxy, "", path), 401);
        isStatus(ask(null, "admin", "/openapi/v3"), 401);
    }

    @Test
    void whereEverybodyAsksNobodyIsTakenForTheApiServer() throws Exception {
        isStatus(askAt(port(0), proxy, "admin", API + "/podusages"), 401);
    }

    @Test
    void whoeverFillsThePortForEverybodyIsNotInTheApiServersWay() throws Exception {
        var idle = new ArrayList<Socket>();
        try {
            for (int i = 0; i < 30; i++) {
                idle.add(new Socket(InetAddress.getLoopbackAddress(), port(0)));
            }
            assertThat(ask(proxy, "admin", "/apis").statusCode()).isEqualTo(200);
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    @Test
    void whoeverConnectsAndAsksNothingGivesWay() throws Exception {
        try (var idle = new Socket(InetAddress.getLoopbackAddress(), port(1))) {
            idle.setSoTimeout(20_000);
            assertThat(idle.getInputStream().read()).as("the connection has ended").isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/api/v1/openapi", "/api/v1/budgets", API + "/podusages"})
    void whoeverIsNotTheApiServerIsAnsweredOnceAtItsPort(String path) throws Exception {
        HttpResponse<String> answer = ask(null, "admin", path);

        assertThat(answer.statusCode()).isEqualTo(path.startsWith(API) ? 401 : 404);
        assertThat(answer.headers().firstValue("Connection")).hasValue("close");
    }

    @Test
    void aUserOfManyGroupsIsAnswered() throws Exception {
        var groups = new ArrayList<String>();
        for (int i = 0; i < 500; i++) {
            groups.add("X-Remote-Group");
            groups.add("oidc:a-group-of-a-large-company-" + i);
        }
        assertThat(
                        ask(
                                        proxy,
                                        "ada",
                                        API + "/namespaces/team-a/podusages",
                                        groups.toArray(String[]::new))
                                .statusCode())
                .isEqualTo(200);
    }

    @Test
    void anotherAuthorityOfTheApiServerIsFollowedAtOnce() throws Exception {
        var next = new ClientAuthority(Instant.now());
        ServerIdentity shown = next.client("CN=front-proxy-client");
        assertThat(ask(shown, "admin", "/apis").statusCode()).isEqualTo(401);

        apiServer.passesOnBy(next.certificate());
        await("it is known").until(() -> ask(shown, "admin", "/apis").statusCode() == 200);
        assertThat(ask(proxy, "admin", "/apis").statusCode()).isEqualTo(401);

        apiServer.passesOnBy(proxies.certificate());
        await("so is the first").until(() -> ask(proxy, "admin", "/apis").statusCode() == 200);
    }

    @Test
    void theApiServerIsToldByWhichAuthorityItKnowsUs() {
        await().untilAsserted(() ->
                assertThat(apiServer.caBundle())
                        .isEqualTo(
                                Base64.getEncoder()
                                        .encodeToString(
                                                Pem.of(ours.certificate()).getBytes(US_ASCII))));
    }

    @Test
    void whatThereIsIsFoundInEveryWay() throws Exception {
        assertThat(answered("ada", "/apis").at("/groups/0/name").asString())
                .isEqualTo("usage.gpusharing.io");
        HttpResponse<String> all =
                ask(
                        proxy,
                        "ada",
                        "/apis",
                        "Accept",
                        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
        assertThat(
                        JSON.readTree(all.body())
                                .at("/items/0/versions/0/resources/0/resource")
                                .asString())
                .isEqualTo("podusages");
        assertThat(answered("ada", API).at("/resources/0/kind").asString()).isEqualTo("PodUsage");
        assertThat(answered("ada", API).path("resources"))
                .filteredOn(it -> it.path("name").asString().equals("explanations"))
                .singleElement()
                .satisfies(it -> assertThat(it.path("verbs").toString()).isEqualTo("[\"create\"]"));
        String described =
                answered("ada", "/openapi/v3")
                        .at("/paths/apis~1usage.gpusharing.io~1v1alpha1/serverRelativeURL")
                        .asString();
        assertThat(answered("ada", described).at("/openapi").asString()).startsWith("3");
    }

    @Test
    void whoAsksTooMuchAtOnceIsToComeAgainAndNobodyElse() throws Exception {
        answered("admin", API + "/podusages");
        answered("rita", API + "/budgetusages");
        int asked = 10;
        int turns = 3;
        var answers = new LinkedBlockingQueue<HttpResponse<String>>();
        try (var people = Executors.newVirtualThreadPerTaskExecutor();
                Connection ledger = DATABASE.dataSource().getConnection()) {
            ledger.setAutoCommit(false);
            // So no question about pods is answered.
            ledger.createStatement().execute("lock table pod_allocation");
            for (int i = 0; i < asked; i++) {
                var _ = people.submit(() -> answers.add(ask(proxy, "admin", API + "/podusages")));
            }
            for (int i = 0; i < asked - turns; i++) {
                HttpResponse<String> answer = Objects.requireNonNull(answers.poll(1, MINUTES));
                isStatus(answer, 429, "Too many questions", "ask again");
                assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            }
            answered("admin", API);
            answered("rita", API + "/budgetusages");
            ledger.rollback();
            for (int i = 0; i < turns; i++) {
                HttpResponse<String> answer = Objects.requireNonNull(answers.poll(1, MINUTES));
                assertThat(answer.statusCode()).isEqualTo(200);
            }
        }
    }

    @Test
    void whoReadsSlowlyHasNoTurn() throws Exception {
        // More than lies between two sockets.
        DATABASE.jdbc()
                .sql(
                        """
                        insert into pod_allocation
                        select (jsonb_populate_record(pod, jsonb_build_object('pod_uid', gen_random_uuid(), 'node', repeat('n', 10000)))).*
                          from pod_allocation pod, generate_series(1, 1000) where pod.name = 'serve'
                        """)
                .update();
        HttpRequest all =
                HttpRequest.newBuilder(
                                URI.create("https://127.0.0.1:" + port(1) + API + "/podusages"))
                        .header("X-Remote-User", "admin")
                        .build();
        HttpClient slow =
                HttpClient.newBuilder().sslContext(ClientTls.of(proxy, ours.certificate())).build();
        try {
            for (int i = 0; i < 3; i++) {
                assertThat(slow.send(all, BodyHandlers.ofInputStream()).statusCode())
                        .isEqualTo(200);
            }
            answered("admin", API + "/podusages?limit=1");
        } finally {
            slow.shutdownNow();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/namespaces/team-a/podusages/none, 404",
        "/podusages?fieldSelector=spec.none=1, 400",
        "/podusages?limit=1, 200"
    })
    void aTurnEndsHoweverItsQuestionIsAnswered(String path, int code) throws Exception {
        for (int i = 0; i < 10; i++) {
            assertThat(ask(proxy, "admin", API + path).statusCode()).isEqualTo(code);
        }
    }

    @Test
    void whereTheApiServerCannotBeAskedNobodyIsLetThrough() throws Exception {
        apiServer.silent(true);
        try {
            isStatus(
                    ask(proxy, "somebody", API + "/podusages"),
                    503,
                    "The API server cannot be asked now");
        } finally {
            apiServer.silent(false);
        }
    }
}

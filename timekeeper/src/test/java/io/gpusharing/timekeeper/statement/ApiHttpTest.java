package io.gpusharing.timekeeper.statement;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.audit.Verification;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.cluster.GpuNodes;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterTenant;
import io.gpusharing.timekeeper.database.Snapshot;
import io.gpusharing.timekeeper.explanation.FakeScheduler;
import io.gpusharing.timekeeper.explanation.FakeScheduler.Answer;
import io.gpusharing.timekeeper.ledger.Measurements;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.ledger.correction.Corrections;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.gpusharing.web.Caller;
import io.gpusharing.wire.ExplanationQuestion;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.UnsupportedEncodingException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reads and writes over HTTP, on a real database, with an API server that knows the users. */
class ApiHttpTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final SteppingClock CLOCK = new SteppingClock(TEN);
    private static final TestDatabase DATABASE = TestDatabase.create();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final FakeScheduler SCHEDULER = new FakeScheduler(ApiHttpTest::explained);
    private static FakeApiServer api;
    private static ServletWebServerApplicationContext context;
    private static int port;

    /** Held half a GPU from 10:00:00 to 12:30:00. */
    private static final Pods ENDED = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    /** The cluster has it, and the ledger never observed it. */
    private static final Pods UNMETERED = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    /** As {@link #ENDED}, of another budget: it is corrected. */
    private static final Pods CORRECTED = Pods.waiting("team-c", 50, 15).boundAt(TEN);

    private static final Terms TERMS = new Terms();

    /** Holds a whole GPU since 12:00:00. */
    private static final Pods RUNNING =
            Pods.waiting("team-a", 100, 0).boundAt(TEN.plus(Duration.ofHours(2)));

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @ConfigurationPropertiesScan({
        "io.gpusharing.timekeeper.cluster",
        "io.gpusharing.timekeeper.ledger",
        "io.gpusharing.timekeeper.explanation"
    })
    @ComponentScan(
            basePackages = {
                "io.gpusharing.timekeeper.web",
                "io.gpusharing.timekeeper.ledger",
                "io.gpusharing.timekeeper.budget",
                "io.gpusharing.timekeeper.explanation",
                "io.gpusharing.timekeeper.statement",
                "io.gpusharing.timekeeper.usage",
                "io.gpusharing.timekeeper.audit"
            },
            excludeFilters =
                    @ComponentScan.Filter(
                            type = FilterType.REGEX,
                            pattern =
                                    ".*(Watch|StatusPublisher|LedgerWord|BudgetNotifier|PodAnnotator|DefaultBudgets|Test.*|budget\\.Budgets|budget\\.correction\\..*|usage\\.(intake|reporter)\\..*|AgentMeasurements|VerifyCommand|VerifyConfiguration|ReportingAuthority|ServingCertificateTask|TlsConfiguration)"))
    @ComponentScan(
            basePackages = "io.gpusharing.timekeeper.receipt",
            useDefaultFilters = false,
            includeFilters =
                    @ComponentScan.Filter(
                            type = FilterType.REGEX,
                            pattern = ".*\\.(EvictionReceipts|EvictionWatch)"))
    @EntityScan("io.gpusharing.timekeeper")
    @EnableJpaRepositories(basePackages = "io.gpusharing.timekeeper")
    @Import({Snapshot.class, ClusterTenant.class})
    static class Application {

        // Other tests go on with it.
        @Bean(destroyMethod = "")
        DataSource dataSource() {
            return DATABASE.dataSource();
        }

        @Bean
        GpuNodes nodes() {
            return List::of;
        }

        @Bean
        Clock clock() {
            return CLOCK;
        }

        @Bean
        Leadership leadership() {
            return TERMS.leadership();
        }

        @Bean
        Measurements measurements() {
            return pods -> Map.of();
        }

        @Bean
        MeterRegistry meterRegistry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        UnreadableObjects unreadableObjects() {
            return new UnreadableObjects(object -> {});
        }

        @Bean
        ClusterView clusterView() {
            return ClusterViews.showing(ENDED.facts(), UNMETERED.facts());
        }

        @Bean
        RequestGrammars requestGrammars() {
            return new RequestGrammars(List.of(new VcudaGrammar()));
        }

        @Bean
        ClusterDatabase rows() {
            return DATABASE.rows();
        }

        @Bean
        Budgets budgets() {
            return TestBudgets.on(DATABASE, Duration.ofHours(1), CLOCK);
        }

        @Bean(destroyMethod = "close")
        KubernetesClient kubernetesClient() {
            return new KubernetesClientBuilder()
                    .withKubernetesSerialization(ApiServerJson.serialization())
                    .withConfig(
                            new ConfigBuilder()
                                    .withMasterUrl(api.url())
                                    .withOauthToken("timekeeper")
                                    .build())
                    .build();
        }
    }

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new FakeApiServer();
        api.objects.put(
                "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-scheduler-ca",
                JSON.createObjectNode()
                        .set("data", JSON.createObjectNode().put("ca.crt", SCHEDULER.authority())));
        TERMS.begin();
        context =
                (ServletWebServerApplicationContext)
                        new SpringApplicationBuilder(Application.class)
                                .properties(
                                        "spring.config.location=optional:classpath:/none/",
                                        "server.port=0",
                                        "gpusharing.cluster.namespace=gpusharing-system",
                                        "gpusharing.explanation.url=" + SCHEDULER.url(),
                                        "gpusharing.explanation.token="
                                                + Files.writeString(
                                                        folder.resolve("token"), "timekeeper"),
                                        "spring.flyway.enabled=false",
                                        "spring.threads.virtual.enabled=true",
                                        "spring.jackson.deserialization.fail-on-unknown-properties=true",
                                        "spring.jackson.deserialization.accept-float-as-int=false",
                                        "spring.jackson.read.strict-duplicate-detection=true",
                                        "springdoc.api-docs.path=/api/v1/openapi",
                                        "springdoc.packages-to-scan=io.gpusharing.timekeeper")
                                .run();
        port = Objects.requireNonNull(context.getWebServer()).getPort();
        LedgerWriter writer = context.getBean(LedgerWriter.class);
        Budgets budgets = context.getBean(Budgets.class);
        writer.between(() ->
                TestBudgets.exist(
                        budgets,
                        List.of(
                                TestBudgets.budget(
                                        "a", TEN, "200", Unit.Day, "UTC", "0", 25, "team-a"),
                                TestBudgets.budget(
                                        "c", TEN, "200", Unit.Day, "UTC", "0", 25, "team-c"),
                                TestBudgets.budget(
                                        "b", TEN, null, Unit.Day, "UTC", "0", 25, "team-b"))));
        // Metering begins here, and not when the ledger's thread reads the clock.
        assertThat(writer.position()).isEmpty();
        writer.begin();
        writer.onEvent(new Listed(List.of(), Set.of(), "0", false, CLOCK.instant()));
        writer.onEvent(new Updated(ENDED.facts(), "1", CLOCK.instant()));
        writer.onEvent(new Updated(CORRECTED.facts(), "1", CLOCK.instant()));
        CLOCK.pass(Duration.ofHours(2));
        writer.onEvent(new Updated(RUNNING.facts(), "2", CLOCK.instant()));
        writer.onEvent(
                new Updated(
                        ENDED.finishedAt(TEN.plus(Duration.ofMinutes(150))).facts(),
                        "3",
                        CLOCK.instant()));
        writer.onEvent(
                new Updated(
                        CORRECTED.finishedAt(TEN.plus(Duration.ofMinutes(150))).facts(),
                        "3",
                        CLOCK.instant()));
        await().until(() -> charged(CORRECTED.uid()) == 9000L * 500_000);
        await().until(() -> charged(ENDED.uid()) == 9000L * 500_000);
        CLOCK.pass(Duration.ofMinutes(70));
        writer.onEvent(new Bookmark("4", CLOCK.instant()));
        await().until(() -> charged(RUNNING.uid()) == 3600L * 1_000_000);
    }

    /** It knows one pod, and what is new it explains by its name. */
    private static Answer explained(ExplanationQuestion question) {
        PodName pod = question.pod();
        return pod == null
                ? Answer.explained(
                        EXPLAINED.formatted(
                                JSON.readTree(String.valueOf(question.newPod()))
                                        .at("/metadata/name")
                                        .asString(),
                                "New"))
                : pod.name().equals("waits")
                        ? Answer.explained(EXPLAINED.formatted("waits", "Waits"))
                        : Answer.problem(404, "There is no pod %s in team-a".formatted(pod.name()));
    }

    private static long charged(UUID pod) {
        return DATABASE.jdbc()
                .sql("select coalesce(sum(amount), 0)::bigint from charge where pod_uid = ?")
                .param(pod)
                .query(Long.class)
                .single();
    }

    @AfterAll
    static void stop() {
        context.close();
        api.close();
        SCHEDULER.close();
    }

    private static HttpResponse<String> get(@Nullable String who, String path, String... headers)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        if (who != null) {
            request.header("Authorization", "Bearer " + who);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return CLIENT.send(request.build(), BodyHandlers.ofString());
    }

    private static HttpResponse<String> post(
            String who, String path, String key, String body, String... headers)
            throws IOException, InterruptedException {
        var request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .header("Authorization", "Bearer " + who)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body));
        if (!key.isEmpty()) {
            request.header("Idempotency-Key", key);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return CLIENT.send(request.build(), BodyHandlers.ofString());
    }

    private static JsonNode json(String path) throws IOException, InterruptedException {
        return json("reader", path);
    }

    private static JsonNode json(String who, String path) throws IOException, InterruptedException {
        HttpResponse<String> answer = get(who, path);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    private static void isProblem(HttpResponse<String> answer, int status, String... words) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type").orElse(""))
                .startsWith("application/problem+json");
        String detail = JSON.readTree(answer.body()).path("detail").asString();
        assertThat(detail).isNotBlank();
        assertThat(List.of(words)).allSatisfy(word -> assertThat(detail).contains(word));
    }

    private static String next(HttpResponse<String> answer) {
        String link = answer.headers().firstValue("Link").orElseThrow();
        return link.replaceAll("^<(.*)>; rel=\"next\"$", "$1");
    }

    @Test
    void theAnswerToACallerWithoutTokenOrRightSaysWhatIsMissing() throws Exception {
        isProblem(get(null, "/api/v1/budgets"), 401);
        isProblem(get("forged", "/api/v1/budgets"), 401, "kubectl create token");
        isProblem(get("stranger", "/api/v1/budgets/a"), 403, "get gpubudgets.gpusharing.io/a");
        isProblem(
                post("reader", "/api/v1/budgets/a/grants", "k", "{}"),
                403,
                "update gpubudgets.gpusharing.io/a; cluster role gpusharing-budget-admin");
    }

    @Test
    void aTokenThatIsForCertainThingsAloneGivesNoOtherRight() throws Exception {
        isProblem(get("admin", "/api/v1/verify"), 404, "not verified yet");
        isProblem(get("scoped", "/api/v1/verify"), 403);
        isProblem(get("scoped", "/api/v1/budgets/a"), 403);
    }

    @Test
    void whatDoesNotExistIsNotAnsweredWithMissingRights() throws Exception {
        for (String who : List.of("reader", "admin")) {
            isProblem(send(who, "DELETE", "/api/v1/budgets/a", ""), 405);
        }
    }

    @Test
    void everyErrorIsAProblem() throws Exception {
        isProblem(get("reader", "/api/v1/budgets/none"), 404, "none");
        isProblem(get("reader", "/api/v1/nothing-here"), 404, "/api/v1/nothing-here", "openapi");
        isProblem(get("reader", "/api/v1/pods/not-a-uid"), 400, "uid is a uid such as");
        isProblem(get("reader", "/api/v1/budgets/a/statement?limit=0"), 400, "limit");
        isProblem(get("reader", "/api/v1/budgets/a/statement?after=x"), 400, "Link");
        isProblem(get("admin", "/api/v1/evictions?after=abc"), 400, "Link");
        isProblem(
                get(
                        "reader",
                        "/api/v1/budgets/a/statement?after=99999999999999_%1$s_Charge_%1$s"
                                .formatted(new UUID(0, 0))),
                400,
                "Link");
        isProblem(
                get("reader", "/api/v1/budgets/a/statement?from=-1000000000-01-01T00:00:00Z"),
                400,
                "before 1970");
        isProblem(get("reader", "/api/v1/budgets/a/balance?at=1900-01-01T00:00:00Z"), 400);
        isProblem(get("reader", "/api/v1/budgets/a/balance?at=2027-01-01T00:00:00Z"), 400);
        isProblem(
                get("reader", "/api/v1/budgets/a/balance?at=yesterday"),
                400,
                "at is an instant such as 2026-11-01T00:00:00Z, not yesterday");
        isProblem(get("reader", "/api/v1/budgets?limit=ten"), 400, "limit is a whole number");
        isProblem(get("reader", "/api/v1/budgets/a/balance?at=2026-03-01T10:00:00.5Z"), 400);
        isProblem(get("reader", "/api/v1/budgets/a/statement", "Accept", "image/png"), 406);
        isProblem(post("admin", "/api/v1/budgets/a/grants", "k1", "{"), 400, "JSON");
        isProblem(post("admin", "/api/v1/budgets/a/grants", "k1", ""), 400, "missing");
        isProblem(
                post("admin", "/api/v1/budgets/a/grants", "k1", "{}"),
                400,
                "gpuMinutes must not be null",
                "reason must not be blank");
        isProblem(post("admin", "/api/v1/budgets/a/grants", "", "{}"), 400, "Idempotency-Key");
        isProblem(get("reader", "/api/v1/budgets/none/explain"), 404);
        isProblem(get("reader", "/api/v1/budgets/none/statement"), 404);
        isProblem(get("reader", "/error"), 404);
    }

    @Test
    void alsoWhatTheServerItselfRefusesIsAProblem() throws Exception {
        isProblem(get("reader", "/api/v1/" + "a".repeat(10_000)), 400);
        isProblem(get("reader", "/api/v1/budgets/../../.."), 400);
        isProblem(get("reader", "/api/v1/budgets/%2e%2e/a"), 400);
        isProblem(get("reader", "/api/v1/budgets//a"), 400);
        isProblem(get("reader", "/api/v1/budgets/a%00"), 400);
        isProblem(get("reader", "/api/v1/budgets/a;b=c"), 400);
        isProblem(get("reader", "/api/v1/budgets", "X-Long", "a".repeat(10_000)), 400);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TRACE /api/v1/budgets HTTP/1.1",
                "TRACE /nothing HTTP/1.1\nAccept: text/html",
                "FOO /api/v1/budgets HTTP/1.1",
                "FOO /nothing HTTP/1.1",
                "CONNECT timekeeper:443 HTTP/1.1",
                "GET /api/v1/budgets HTTP/3.7",
                "GET /api/v1/budgets\tHTTP/1.1",
                "G{T /api/v1/budgets HTTP/1.1",
                "OPTIONS * HTTP/1.1",
                "OPTIONS /api/v1/budgets HTTP/1.1",
            })
    void whateverIsSentTheAnswerIsAProblemOrEmpty(String line) throws Exception {
        String answer = raw(line + "\nHost: timekeeper\nConnection: close\n\n");

        String head = answer.substring(0, answer.indexOf("\r\n\r\n"));
        String body = answer.substring(head.length() + 4);
        assertThat(body.isEmpty() || head.contains("Content-Type: application/problem+json"))
                .as(answer)
                .isTrue();
    }

    private static String raw(String request) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(request.replace("\n", "\r\n").getBytes(UTF_8));
            return new String(socket.getInputStream().readAllBytes(), UTF_8);
        }
    }

    @Test
    void aBalanceIsAnsweredForAnyInstantOfThePast() throws Exception {
        JsonNode at = json("/api/v1/budgets/a/balance?at=2026-03-01T11:00:00Z");

        assertThat(at.path("granted").asLong()).isEqualTo(200 * 60_000_000L);
        assertThat(at.path("used").asLong()).isEqualTo(3600 * 500_000L);
        assertThat(at.path("remaining").asLong()).isEqualTo(200 * 60_000_000L - 3600 * 500_000L);
        isProblem(get("reader", "/api/v1/budgets/a/balance?at=2026-03-01T09:00:00Z"), 404);
    }

    @Test
    void anUnlimitedBudgetHasUseButNoBalance() throws Exception {
        JsonNode at = json("/api/v1/budgets/b/balance");

        assertThat(at.has("remaining")).isFalse();
        assertThat(at.path("standing").asString()).isEqualTo("Unlimited");
        assertThat(json("/api/v1/budgets/b/statement").has("opening")).isFalse();
    }

    @Test
    void aStatementAddsUpAcrossItsPages() throws Exception {
        String path =
                "/api/v1/budgets/a/statement?from=2026-03-01T10:30:00Z&to=2026-03-01T12:15:10Z&limit=2";
        long lines = 0;
        int pages = 0;
        JsonNode first = json(path);
        String page = path;
        while (page != null) {
            HttpResponse<String> answer = get("reader", page);
            for (JsonNode line : JSON.readTree(answer.body()).path("lines")) {
                lines += line.path("used").asLong();
            }
            pages++;
            page = answer.headers().firstValue("Link").isPresent() ? next(answer) : null;
        }

        // Half a GPU from 10:30:00 and a whole one from 12:00:00, both to 12:15:10.
        assertThat(lines).isEqualTo((6310 * 500_000L) + 910 * 1_000_000L);
        assertThat(first.path("used").asLong()).isEqualTo(lines);
        assertThat(pages).isGreaterThan(1);
        assertThat(first.path("opening").asLong() - lines)
                .isEqualTo(first.path("closing").asLong());
        assertThat(first.path("closing").asLong())
                .isEqualTo(
                        json("/api/v1/budgets/a/balance?at=2026-03-01T12:15:10Z")
                                .path("remaining")
                                .asLong());
    }

    @Test
    void aStatementNamesOwnersAndModelsAndHidesOwnersOfPodsThatAreNotShown() throws Exception {
        DATABASE.jdbc()
                .sql(
                        "update pod_allocation set owner_kind = 'Job', owner_name = 'secret-job', model = 'NVIDIA-H200' where pod_uid = ?")
                .param(CORRECTED.uid())
                .update();
        String path = "/api/v1/budgets/c/statement";

        JsonNode line = json("admin", path).path("lines").get(0);
        assertThat(line.path("ownerKind").asString()).isEqualTo("Job");
        assertThat(line.path("ownerName").asString()).isEqualTo("secret-job");
        assertThat(line.path("model").asString()).isEqualTo("NVIDIA-H200");
        assertThat(get("admin", path, "Accept", "text/csv").body())
                .contains(",Job,secret-job,NVIDIA-H200,");
        assertThat(get("reader", path, "Accept", "text/csv").body())
                .contains(",team-c,,Job,,NVIDIA-H200,");
        assertThat(get("reader", path).body()).contains("NVIDIA-H200").doesNotContain("secret-job");
    }

    /** Otherwise use during the reads would be in the lines and not in the sum. */
    @Test
    void theFirstPageOfAStatementWithoutAnEndFixesIt() throws Exception {
        HttpResponse<String> first = get("reader", "/api/v1/budgets/a/statement?limit=1");
        JsonNode whole = JSON.readTree(first.body());
        long lines = 0;

        CLOCK.pass(Duration.ofSeconds(7));
        String page = "/api/v1/budgets/a/statement?limit=1";
        HttpResponse<String> answer = first;
        while (page != null) {
            JsonNode body = JSON.readTree(answer.body());
            assertThat(body.path("to")).isEqualTo(whole.path("to"));
            assertThat(body.path("from")).isEqualTo(whole.path("from"));
            for (JsonNode line : body.path("lines")) {
                lines += line.path("used").asLong();
            }
            page = answer.headers().firstValue("Link").isPresent() ? next(answer) : null;
            answer = page == null ? answer : get("reader", page);
        }

        assertThat(lines).isEqualTo(whole.path("used").asLong());
    }

    @Test
    void aStatementForASpreadsheetAddsUpToItsLastRow() throws Exception {
        HttpResponse<String> answer =
                get("reader", "/api/v1/budgets/a/statement", "Accept", "text/csv");

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/csv");
        // Within a sentence a blank follows.
        List<String[]> rows = answer.body().lines().map(row -> row.split(",(?! )", -1)).toList();
        assertThat(rows).allSatisfy(row -> assertThat(row).hasSize(15));
        List<String[]> amounts = rows.subList(1, rows.size());
        long sum =
                amounts.subList(0, amounts.size() - 1).stream()
                        .mapToLong(row -> Long.parseLong(row[10]))
                        .sum();
        assertThat(amounts.getFirst()[1]).isEqualTo("Opening");
        assertThat(amounts.getLast()[1]).isEqualTo("Closing");
        assertThat(Long.parseLong(amounts.getLast()[10])).isEqualTo(sum);
        assertThat(amounts.stream().map(row -> row[1])).contains("Allowance", "Charge", "Running");
        assertThat(amounts)
                .as("minutes are the same amount for people, and each row says of which budget")
                .allSatisfy(row -> {
                    assertThat(row[9]).isEqualTo(new GpuTime(Long.parseLong(row[10])).minutes());
                    assertThat(row[0]).isEqualTo("a");
                });
    }

    @Test
    void slowDownloadsOfStatementsLeaveConnectionsToTheLedger() throws Exception {
        var controller = context.getBean(StatementController.class);
        var begun = new CountDownLatch(2);
        var read = new CountDownLatch(1);
        List<Thread> slow =
                Stream.generate(() -> new SlowClient(begun, read))
                        .limit(2)
                        .map(client ->
                                Thread.startVirtualThread(() -> client.download(controller, "a")))
                        .toList();
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

        var third = get("reader", "/api/v1/budgets/a/statement", "Accept", "text/csv");
        read.countDown();

        assertThat(third.statusCode()).isEqualTo(503);
        for (Thread thread : slow) {
            thread.join();
        }
        assertThat(get("reader", "/api/v1/budgets/a/statement", "Accept", "text/csv").statusCode())
                .isEqualTo(200);
    }

    /** Reads nothing of the answer until the test says so. */
    private static final class SlowClient extends MockHttpServletResponse {

        private final CountDownLatch begun;
        private final CountDownLatch read;

        SlowClient(CountDownLatch begun, CountDownLatch read) {
            this.begun = begun;
            this.read = read;
        }

        void download(StatementController controller, String budget) {
            try {
                controller.csv(
                        budget,
                        null,
                        null,
                        UsernamePasswordAuthenticationToken.authenticated(
                                new Caller("reader@example.com", "", List.of(), Map.of()),
                                "reader",
                                List.of()),
                        this);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public PrintWriter getWriter() throws UnsupportedEncodingException {
            begun.countDown();
            try {
                read.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return super.getWriter();
        }
    }

    @Test
    void whatWasCorrectedCountsAtOnceAndStandsInListAndStatement() throws Exception {
        long before = json("/api/v1/budgets/c/balance").path("remaining").asLong();
        Instant from = Instant.parse("2026-03-01T10:50:00Z");
        var order =
                new CorrectionOrder(
                        CORRECTED.uid(), "c", from, from.plus(Duration.ofMinutes(20)), 0);

        context.getBean(LedgerWriter.class)
                .between(() -> {
                    context.getBean(Corrections.class)
                            .write(order, "=the node was broken", "ada", UUID.randomUUID());
                    context.getBean(Budgets.class).corrected("c");
                });

        await().until(() -> json("/api/v1/budgets/c/corrections").size() == 2);
        JsonNode entries = json("/api/v1/budgets/c/corrections");
        assertThat(
                        StreamSupport.stream(entries.spliterator(), false)
                                .mapToLong(entry -> entry.path("amount").asLong()))
                .containsExactly(-600 * 500_000L, -600 * 500_000L);
        assertThat(entries.get(0).path("author").asString()).isEqualTo("ada");
        await().until(() ->
                json("/api/v1/budgets/c").path("remaining").asLong() == before + 1200 * 500_000L);
        assertThat(json("/api/v1/budgets/c/balance").path("remaining").asLong())
                .isEqualTo(before + 1200 * 500_000L);
        assertThat(context.getBean(Verification.class).run().differences()).isEmpty();
        assertThat(get("reader", "/api/v1/budgets/c/statement", "Accept", "text/csv").body())
                .contains("'=the node was broken");
    }

    @Test
    void aReplicaThatDoesNotLeadAnswersReads() throws Exception {
        TERMS.end();
        try {
            var noticed = new CompletableFuture<Boolean>();
            context.getBean(LedgerWriter.class).between(() -> noticed.complete(true));
            assertThat(noticed.get()).isTrue();
            assertThat(json("/api/v1/budgets/a/balance").path("used").asLong()).isPositive();
            assertThat(json("/api/v1/budgets/a").path("name").asString()).isEqualTo("a");
        } finally {
            TERMS.begin();
            context.getBean(LedgerWriter.class)
                    .onEvent(
                            new Listed(
                                    List.of(RUNNING.facts()),
                                    Set.of(),
                                    "5",
                                    false,
                                    CLOCK.instant()));
        }
    }

    @Test
    void aGrantIsCreatedInTheCallersNameOnceForEachKey() throws Exception {
        String path = "/api/v1/budgets/a/grants";
        String order = "{\"gpuMinutes\": \"30\", \"reason\": \"paper deadline\"}";

        HttpResponse<String> made = post("admin", path, "paper", order);
        HttpResponse<String> again = post("admin", path, "paper", order);

        assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        assertThat(again.statusCode()).as(again.body()).isEqualTo(200);
        JsonNode grant = JSON.readTree(made.body());
        assertThat(grant.path("author").asString()).isEqualTo("admin@example.com");
        assertThat(JSON.readTree(again.body()).path("name")).isEqualTo(grant.path("name"));
        assertThat(api.grants).hasSize(1);
        assertThat(api.grantors).as("never with our own token").containsOnly("admin");
        isProblem(post("admin", path, "paper", order.replace("30", "31")), 422, "paper");
        isProblem(post("clerk", path, "mine", order), 403, "cannot create resource gpugrants");
        isProblem(post("admin", path, "zero", order.replace("30", "0")), 422, "gpuMinutes");
        isProblem(post("admin", path, "much", order.replace("30", "much")), 422, "GPU-minutes");
        isProblem(post("admin", "/api/v1/budgets/none/grants", "x", order), 404);
    }

    @Test
    void aGrantThatWouldNeverCountIsRefusedButOneThatCountedWhenItWasMadeIsAnsweredAsBefore()
            throws Exception {
        String path = "/api/v1/budgets/a/grants";
        String order = "{\"gpuMinutes\": \"1\", \"reason\": \"night\", \"expiresAt\": \"%s\"}";
        Instant now = CLOCK.instant();
        String passed = order.formatted(now);

        isProblem(post("admin", path, "late", passed), 422, "expiresAt", "an instant after " + now);
        assertThat(api.grants.values().toString()).doesNotContain("night");

        String soon = order.formatted(now.plusSeconds(1));
        HttpResponse<String> made = post("admin", path, "night", soon);
        assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        // So it was sent before, and its answer was lost until it had passed.
        String name = JSON.readTree(made.body()).path("name").asString();
        ((ObjectNode) Objects.requireNonNull(api.grants.get(name)).get("spec"))
                .put("expiresAt", now.toString());
        HttpResponse<String> again = post("admin", path, "night", passed);
        assertThat(again.statusCode()).as(again.body()).isEqualTo(200);
        api.grants.remove(name);
    }

    @Test
    void anOrderThatIsNotReadAsItIsWrittenIsRefusedAndNamesTheField() throws Exception {
        String grants = "/api/v1/budgets/a/grants";

        isProblem(
                post(
                        "admin",
                        grants,
                        "s1",
                        "{\"gpuMinutes\": \"3\", \"reason\": \"x\", \"expires\": 1}"),
                422,
                "no field expires",
                "expiresAt, gpuMinutes, notBefore, reason");
        isProblem(
                post("admin", grants, "s2", "{\"gpuMinutes\": \"3\", \"gpuMinutes\": \"4\"}"),
                422,
                "gpuMinutes");
        isProblem(
                post("admin", grants, "s3", "{\"notBefore\": \"soon\"}"),
                422,
                "notBefore is an instant");
        assertThat(api.grants.values().toString()).doesNotContain("\"x\"");
    }

    @Test
    void aKeyThatIsNotAsciiIsRefusedAsABadRequest() throws Exception {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream()
                    .write(
                            """
                            POST /api/v1/budgets/a/grants HTTP/1.1
                            Host: timekeeper
                            Connection: close
                            Authorization: Bearer admin
                            Idempotency-Key: 30 € more
                            Content-Type: application/json
                            Content-Length: 2

                            {}\
                            """
                                    .replace("\n", "\r\n")
                                    .getBytes(UTF_8));

            assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
                    .startsWith("HTTP/1.1 400")
                    .contains("application/problem+json", "Idempotency-Key");
        }
    }

    @Test
    void aGrantThatNoWebhookCheckedNamesTheWebhook() throws Exception {
        api.withoutWebhook = true;
        try {
            isProblem(
                    post(
                            "admin",
                            "/api/v1/budgets/a/grants",
                            "unchecked",
                            "{\"gpuMinutes\": \"3\", \"reason\": \"x\"}"),
                    503,
                    "nothing was changed",
                    "failed calling webhook");
        } finally {
            api.withoutWebhook = false;
        }
    }

    @Test
    void aBudgetExplainsItsStandingInOneSentence() throws Exception {
        JsonNode why = json("/api/v1/budgets/a/explain");

        assertThat(
                        why.path("before").asLong()
                                + StreamSupport.stream(why.path("changes").spliterator(), false)
                                        .mapToLong(change -> change.path("amount").asLong())
                                        .sum()
                                - why.path("used").asLong())
                .isEqualTo(why.path("remaining").asLong());
        assertThat(why.path("because").asString())
                .contains("200.000 allowance", "used", "GPU-minutes left");
        assertThat(why.path("largest").get(0).path("pod").asString())
                .isIn(ENDED.uid().toString(), RUNNING.uid().toString());
    }

    @Test
    void wasteIsAnsweredByOneQuery() throws Exception {
        DATABASE.jdbc()
                .sql(
                        """
                        insert into usage_counter (cluster, pod_uid, run, meter, device, basis, basis_reason, gpu_us,
                            memory_bs, covered_us, uncovered_us, sequence, first_at, last_at)
                        values ('test', ?, ?, 'Agent', 'GPU-1', 'Process', '', 18000000, 0, 9000000000, 0, 1, ?, ?)
                        """)
                .params(
                        ENDED.uid(),
                        UUID.randomUUID(),
                        java.sql.Timestamp.from(TEN),
                        java.sql.Timestamp.from(TEN))
                .update();

        JsonNode pods = json("admin", "/api/v1/waste?from=2026-03-01T00:00:00Z&budget=a");
        JsonNode owners = json("/api/v1/waste?by=owner&from=2026-03-01T00:00:00Z&namespace=team-a");

        assertThat(pods.get(0).path("summary").asString())
                .isEqualTo(
                        "team-a/pod-%s held 0.5 GPU for 2.5 h and was busy 0.4 %% of what was watched"
                                .formatted(ENDED.uid()));
        assertThat(pods.get(0).path("idle").asLong()).isEqualTo(9000 * 500_000L - 18_000_000);
        assertThat(pods.get(1).path("summary").asString()).contains("nobody measured it");
        assertThat(owners).hasSize(2);
        isProblem(
                get("admin", "/api/v1/waste?by=colour"),
                400,
                "by is one of owner, pod, not colour");
    }

    @Test
    void theReconcileReportFindsWhatTheClusterDoesNotShow() throws Exception {
        JsonNode report = json("admin", "/api/v1/reconcile");

        assertThat(report.path("sound").asBoolean()).isFalse();
        assertThat(report.path("orphaned")).hasSize(1);
        assertThat(report.path("orphaned").get(0).path("pod").asString())
                .isEqualTo(RUNNING.uid().toString());
        assertThat(report.path("unmetered")).hasSize(2);
        assertThat(report.path("estimated")).isEmpty();
    }

    @Test
    void statementsAndTheReconcileReportNameSpansThatNobodyWatched() throws Exception {
        DATABASE.jdbc()
                .sql(
                        "insert into unwatched values ('test', '2026-03-01T10:05Z', '2026-03-01T10:06Z')")
                .update();
        String statement =
                "/api/v1/budgets/a/statement?from=2026-03-01T10:00:00Z&to=2026-03-01T10:%s:00Z";

        assertThat(json(statement.formatted("06")).at("/unwatched/0/note").asString())
                .isEqualTo(
                        "If pods were bound and removed between 2026-03-01T10:05:00Z and 2026-03-01T10:06:00Z,"
                                + " they are not charged: the API server had forgotten them when it was asked");
        assertThat(json(statement.formatted("05")).has("unwatched")).isFalse();
        assertThat(get("reader", statement.formatted("06"), "Accept", "text/csv").body())
                .contains(
                        "\r\na,Unwatched,2026-03-01T10:05:00Z,2026-03-01T10:06:00Z,,,,,,0.000,0,\"If pods were bound",
                        "when it was asked\",,,\r\n");
        assertThat(get("reader", statement.formatted("05"), "Accept", "text/csv").body())
                .doesNotContain("Unwatched");
        assertThat(json("admin", "/api/v1/reconcile").path("unwatched").toString())
                .contains("\"until\":\"2026-03-01T10:06:00Z\"");
    }

    @Test
    void podsAreShownToCallersWhoMayGetThemInTheirNamespaceAndToAdministrators() throws Exception {
        String elsewhere = "/api/v1/pods/" + CORRECTED.uid();

        assertThat(get("reader", "/api/v1/pods?namespace=team-a").statusCode()).isEqualTo(200);
        assertThat(get("reader", "/api/v1/pods/" + ENDED.uid()).statusCode()).isEqualTo(200);
        isProblem(get("reader", "/api/v1/pods"), 403, "namespace");
        isProblem(get("reader", "/api/v1/pods?namespace=team-c"), 403, "get pods");
        isProblem(get("reader", elsewhere), 403, "get pods");
        isProblem(get("reader", "/api/v1/waste"), 403, "namespace");
        isProblem(get("stranger", "/api/v1/pods?namespace=team-a"), 403);
        assertThat(get("admin", "/api/v1/pods").statusCode()).isEqualTo(200);
        assertThat(get("admin", elsewhere).statusCode()).isEqualTo(200);
    }

    @Test
    void callersWhoMayNotGetPodsSeeUseWithoutUidsAndNamesOfPods() throws Exception {
        String statement = "/api/v1/budgets/c/statement";
        String uid = CORRECTED.uid().toString();
        String name = "pod-" + uid;

        String used = "\"used\":" + json("admin", statement).path("used").asLong();
        assertThat(get("reader", statement).body()).contains(used).doesNotContain(uid);
        assertThat(get("reader", statement, "Accept", "text/csv").body())
                .contains("Charge")
                .doesNotContain(uid);
        assertThat(get("reader", "/api/v1/budgets/c/explain").body())
                .contains("team-c")
                .doesNotContain(uid);
        assertThat(get("reader", statement + "?limit=1").headers().firstValue("Link"))
                .as("nor in the address of the next page")
                .hasValueSatisfying(link -> assertThat(link).doesNotContain(uid));
        for (String path : List.of(statement, "/api/v1/budgets/c/explain")) {
            assertThat(get("admin", path).body()).contains(name);
            assertThat(get("reader", path.replace("/c/", "/a/")).body())
                    .as("he may get the pods of team-a")
                    .contains("pod-" + ENDED.uid());
        }
    }

    @Test
    void evictionsAreShownToCallersWhoMayGetPodsInTheNamespaceAndToAdministrators()
            throws Exception {
        isProblem(get("reader", "/api/v1/evictions"), 403, "namespace");
        isProblem(get("reader", "/api/v1/evictions?pod=" + ENDED.uid()), 403, "namespace");
        isProblem(get("reader", "/api/v1/evictions?namespace=team-c"), 403, "get pods");
        assertThat(get("reader", "/api/v1/evictions?namespace=team-a").statusCode()).isEqualTo(200);
        assertThat(get("admin", "/api/v1/evictions").statusCode()).isEqualTo(200);
    }

    @Test
    void aReceiptNamesOtherConsideredPodsOnlyToCallersWhoMayGetThem() throws Exception {
        DATABASE.jdbc()
                .sql(
                        """
                        with planned as (
                            insert into eviction
                                   (id, cluster, uid, version, cause, phase, decided_at, node, waiter_uid, waiter_namespace,
                                    waiter_name, waiter_budget, waiter_since, considered)
                            values (gen_random_uuid(), 'test', gen_random_uuid(), 0, 'Reclaim', 'Planned', now(), 'node',
                                    gen_random_uuid(), 'team-c', 'waiter', 'c', now(),
                                    '{"spared": {"it is in budget": 7},
                                      "nearest": [{"uid": "1", "namespace": "team-a", "name": "ours"},
                                                  {"uid": "2", "namespace": "team-c", "name": "theirs"}]}'::jsonb)
                            returning id)
                        insert into eviction_victim (eviction, uid, namespace, name, budget, reason, cost)
                        select id, gen_random_uuid(), 'team-a', 'victim', 'a', 'why', 0 from planned
                        """)
                .update();

        String path = "/api/v1/evictions?namespace=team-a";
        assertThat(get("reader", path).body())
                .contains("waiter", "victim", "ours", "\"uid\":\"1\"")
                .doesNotContain("theirs", "\"uid\":\"2\"");
        assertThat(get("admin", path).body()).contains("ours", "theirs");
    }

    @Test
    void receiptsOfAllCausesArePagedAsOneListLatestFirst() throws Exception {
        DATABASE.jdbc()
                .sql(
                        """
                        with planned as (
                            insert into eviction (id, cluster, uid, version, cause, phase, decided_at, node)
                            select gen_random_uuid(), cluster, gen_random_uuid(), 0, cause, 'Done', at, 'node'
                              from (values ('test', 'MemoryOveruse', timestamptz '2027-01-01T00:01Z'),
                                           ('test', 'RefusedStart', '2027-01-01T00:02Z'),
                                           ('other', 'RefusedStart', '2027-01-01T00:03Z'),
                                           ('test', 'Reclaim', '2027-01-01T00:04Z')) as t(cluster, cause, at)
                            returning id, cause)
                        insert into eviction_victim (eviction, uid, namespace, name, budget, reason, result)
                        select id, gen_random_uuid(), 'paged', 'of-' || cause, 'a', 'No GPU has room', 'Evicted' from planned
                        """)
                .update();

        var names = new ArrayList<String>();
        String path = "/api/v1/evictions?namespace=paged&limit=1";
        while (path != null) {
            HttpResponse<String> page = get("admin", path);
            JSON.readTree(page.body())
                    .forEach(receipt -> names.add(receipt.at("/victim/name").asString()));
            path =
                    page.headers()
                            .firstValue("Link")
                            .map(link -> link.substring(1, link.indexOf('>')))
                            .orElse(null);
        }

        assertThat(names).containsExactly("of-Reclaim", "of-RefusedStart", "of-MemoryOveruse");
        JsonNode receipt = json("admin", "/api/v1/evictions?namespace=paged&limit=2").at("/1");
        assertThat(receipt.at("/cause").asString()).isEqualTo("RefusedStart");
        assertThat(receipt.at("/because").asString())
                .isEqualTo(
                        "paged/of-RefusedStart of budget a was evicted from node, because No GPU has room");
        assertThat(receipt.propertyNames()).doesNotContain("waiter", "cost", "considered");
    }

    @Test
    void anEquivalentPathNeedsTheSameRight() throws Exception {
        isProblem(get("reader", "/api/v1/w%61ste"), 403, "namespace");
        isProblem(get("reader", "/%61pi/v1/waste"), 403, "namespace");
        isProblem(get("reader", "/api/v1/v%65rify"), 403, "update");
        isProblem(get("reader", "/api/v1/l%6fggers"), 403, "update");
    }

    @Test
    void theLedgerIsVerifiedForAdministratorsOnly() throws Exception {
        isProblem(get("reader", "/api/v1/verify"), 403, "update gpubudgets");
        isProblem(get("reader", "/api/v1/reconcile"), 403, "update gpubudgets");
        isProblem(get("admin", "/api/v1/verify"), 404, "not verified yet");
    }

    @Test
    void anInvalidNamespaceIsABadRequest() throws Exception {
        for (String list : List.of("pods", "waste", "usage/pods", "evictions")) {
            isProblem(get("admin", "/api/v1/" + list + "?namespace=%00"), 400, "namespace");
        }
    }

    @Test
    void onlyAdministratorsChangeHowMuchIsLoggedAndOnlyOfOurOwnCode() throws Exception {
        isProblem(setLevel("reader", "io.gpusharing", "debug"), 403, "update gpubudgets");
        isProblem(setLevel("admin", "org.apache.coyote", "trace"), 403, "tokens");
        isProblem(setLevel("admin", "io.gpusharingx", "trace"), 403, "tokens");
        isProblem(setLevel("admin", "ROOT", "trace"), 403, "tokens");
        isProblem(setLevel("admin", "io.gpusharing", "loud"), 400);

        HttpResponse<String> changed = setLevel("admin", "io.gpusharing.none", "warn");

        assertThat(changed.statusCode()).as(changed.body()).isEqualTo(204);
        assertThat(json("admin", "/api/v1/loggers/io.gpusharing.none"))
                .isEqualTo(
                        JSON.readTree(
                                "{\"configuredLevel\":\"WARN\",\"effectiveLevel\":\"WARN\"}"));
        assertThat(json("admin", "/api/v1/loggers").at("/loggers").properties()).isNotEmpty();
    }

    private static HttpResponse<String> setLevel(String who, String logger, String level)
            throws IOException, InterruptedException {
        return send(
                who,
                "POST",
                "/api/v1/loggers/" + logger,
                "{\"configuredLevel\":\"%s\"}".formatted(level));
    }

    private static HttpResponse<String> send(String who, String method, String path, String body)
            throws IOException, InterruptedException {
        return CLIENT.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .header("Authorization", "Bearer " + who)
                        .header("Content-Type", "application/json")
                        .method(method, BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api/v1/pods", "/api/v1/usage/pods"})
    void listsGoOnWhereTheLinkSays(String list) throws Exception {
        HttpResponse<String> first = get("reader", list + "?limit=1&namespace=team-a");
        HttpResponse<String> second = get("reader", next(first));
        HttpResponse<String> third = get("reader", next(second));

        List<String> pods =
                List.of(
                        JSON.readTree(first.body()).get(0).path("uid").asString(),
                        JSON.readTree(second.body()).get(0).path("uid").asString());
        assertThat(pods)
                .containsExactlyInAnyOrder(ENDED.uid().toString(), RUNNING.uid().toString());
        assertThat(third.body()).isEqualTo("[]");
        assertThat(third.headers().firstValue("Link")).isEmpty();
        assertThat(JSON.readTree(get("reader", "/api/v1/budgets?limit=1").body())).hasSize(1);
    }

    /** On the other port, which every pod of the cluster reaches, no series has a name. */
    @Test
    void metricsThatNameBudgetsAreForWhoMayReadMetrics() throws Exception {
        isProblem(get(null, "/api/v1/metrics"), 401);
        isProblem(
                get("reader", "/api/v1/metrics"), 403, "get /metrics", "gpusharing-metrics-reader");

        HttpResponse<String> page = get("admin", "/api/v1/metrics");

        assertThat(page.headers().firstValue("Content-Type"))
                .hasValueSatisfying(it -> assertThat(it).contains("text/plain", "version=0.0.4"));
        assertThat(page.body())
                .contains("gpusharing_budget_used_gpu_seconds{budget=\"a\"}")
                .contains(
                        "gpusharing_namespace_gpu_seconds_total{budget=\"a\",namespace=\"team-a\"}");
    }

    @Test
    void theInterfaceDescribesItself() throws Exception {
        HttpResponse<String> answer = get(null, "/api/v1/openapi");

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode description = JSON.readTree(answer.body());
        assertThat(description.path("openapi").asString()).startsWith("3.1");
        assertThat(description.path("paths").propertyNames())
                .contains(
                        "/api/v1/budgets/{budget}/statement",
                        "/api/v1/budgets/{budget}/corrections",
                        "/api/v1/waste");
        assertThat(answer.body()).doesNotContain("Authentication");
    }

    @Test
    void everyAnswerIsDescribed() throws Exception {
        JsonNode paths = JSON.readTree(get(null, "/api/v1/openapi").body()).path("paths");

        for (Map.Entry<String, JsonNode> path : paths.properties()) {
            for (Map.Entry<String, JsonNode> call : path.getValue().properties()) {
                assertThat(call.getValue().path("responses").propertyNames())
                        .as(path.getKey())
                        .contains("401", "403");
            }
        }
        assertThat(paths.at("/~1api~1v1~1budgets~1{budget}~1grants/post/responses").propertyNames())
                .contains("200", "201", "409", "422");
        assertThat(
                        paths.at(
                                        "/~1api~1v1~1budgets~1{budget}~1statement/get/responses/200/content")
                                .propertyNames())
                .contains("application/json", "text/csv");
    }

    private static final String PLACEMENT = "/api/v1/pods/team-a/waits/placement";

    private static final String NEW =
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: later}
            spec:
              containers:
              - name: cuda
                resources: {limits: {tencent.com/vcuda-core: "60", tencent.com/vcuda-memory: "30"}}
            """;

    private static HttpResponse<String> newPod(String who, String namespace, String pod)
            throws IOException, InterruptedException {
        return posted(
                who,
                namespace,
                Serialization.asJson(Serialization.unmarshal(pod, Object.class)),
                "application/json");
    }

    private static HttpResponse<String> posted(
            String who, String namespace, String body, String type)
            throws IOException, InterruptedException {
        return CLIENT.send(
                HttpRequest.newBuilder(
                                URI.create(
                                        "http://127.0.0.1:%d/api/v1/pods/%s/placement"
                                                .formatted(port, namespace)))
                        .header("Authorization", "Bearer " + who)
                        .header("Content-Type", type)
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    /** As the scheduler says it, with what is empty left out where it leaves it out. */
    private static final String EXPLAINED =
            """
            {"asOf":"2026-03-01T12:00:00.500Z","namespace":"team-a","name":"%s","state":"%s","summary":"No GPU is free.",
             "asks":[{"container":"cuda","kind":"App","gpus":1,"core":60,"memoryMiB":7680,"memoryPercent":0,"whole":false}],
             "nodes":{"all":2,"fit":0,"why":{"zone":1,"gpu":1},"onlyInSum":0},
             "room":{"decision":"NOTHING_HELPS","text":"nobody","spared":{"a":1},"nodesLeftOut":0},
             "end":{"at":"2026-03-01T13:00:00Z","node":"n1","victims":[],"text":"its budget"},
             "details":[{"name":"n1","fits":false,"reason":"gpu","sumSuffices":true,"gpus":[
              {"index":0,"uuid":"GPU-0","healthy":true,"total":{"core":100,"memoryMiB":16384},"free":{"core":40,"memoryMiB":1},
               "holders":[{"core":60,"memoryMiB":7680,"whole":false,"gone":false,"mayBeEvicted":true}]}]}],
             "notJudged":["volumes"]}
            """;

    @Test
    void aPodThatWaitsIsToldWhatTheSchedulerSays() throws Exception {
        HttpResponse<String> answer = get("reader", PLACEMENT + "?nodes=7");

        assertThat(answer.body())
                .isEqualTo(JSON.readTree(EXPLAINED.formatted("waits", "Waits")).toString());
        ExplanationQuestion asked = SCHEDULER.questions.getLast();
        assertThat(asked.user()).isEqualTo("reader@example.com");
        assertThat(asked.pod()).isEqualTo(new PodName("team-a", "waits"));
        assertThat(asked.nodes()).isEqualTo(7);
    }

    @Test
    void whereNoSchedulerAnswersThatIsSaid() throws Exception {
        for (int status : List.of(401, 403, 500)) {
            SCHEDULER.answers(question -> Answer.text(status, "gpusharing-timekeeper alone"));
            try {
                isProblem(get("reader", PLACEMENT), 503, "No scheduler of GPUSharing says now");
            } finally {
                SCHEDULER.answers(ApiHttpTest::explained);
            }
        }
    }

    @Test
    void whoMayNotGetPodsLearnsNotEvenWhetherThereIsOne() throws Exception {
        HttpResponse<String> there = get("stranger", PLACEMENT);
        HttpResponse<String> nowhere = get("stranger", PLACEMENT.replace("waits", "nobody"));

        isProblem(there, 403, "get pods in the namespace team-a");
        assertThat(nowhere.statusCode()).isEqualTo(403);
        isProblem(get("reader", PLACEMENT.replace("team-a", "team-c")), 403);
        isProblem(get("reader", PLACEMENT.replace("waits", "nobody")), 404, "no pod nobody");
        isProblem(
                get("reader", PLACEMENT.replace("team-a", "TEAM")), 400, "no name of a namespace");
        isProblem(get("reader", PLACEMENT + "?nodes=51"), 400, "0 to 50");
        isProblem(newPod("stranger", "team-a", NEW), 403, "create pods");
        isProblem(newPod("reader", "team-c", NEW), 403, "create pods");
    }

    @Test
    void aNewPodIsExplainedAsIfItWereThere() throws Exception {
        HttpResponse<String> answer = newPod("reader", "team-a", NEW);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode explained = JSON.readTree(answer.body());
        assertThat(explained.path("state").asString()).isEqualTo("New");
        assertThat(explained.path("name").asString()).isEqualTo("later");
        JsonNode asked = JSON.readTree(String.valueOf(SCHEDULER.questions.getLast().newPod()));
        assertThat(asked.at("/metadata/uid").asString()).isNotEmpty();
        assertThat(asked.at("/metadata/creationTimestamp").asString()).isNotEmpty();
        assertThat(asked.at("/metadata/namespace").asString()).isEqualTo("team-a");
        assertThat(asked.at("/metadata/annotations/gpusharing.io~1budget").asString())
                .isEqualTo("a");
        assertThat(asked.at("/spec/containers/0/resources/limits/tencent.com~1vcuda-core"))
                .hasToString("\"60\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "containers: [{name: c, resources: {requests: {cpu: 1m}, limits: {cpu: '9e999'}}}]",
                "containers: [{name: c, resources: {requests: {cpu: '1E-400'}, limits: {cpu: '1e2147483648'}}}]",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a}]}]}}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{operator: In}]}]}}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{}]}]}}}",
                "affinity: {podAffinity: {}, podAntiAffinity: {}}",
                "initContainers: [{volumeMounts: [{}], ports: [{}]}]",
                "tolerations: [{}]",
                "nodeSelector: {a: null}",
                "topologySpreadConstraints: [{}]",
                "terminationGracePeriodSeconds: 9223372036854775807",
                "resources: {limits: {cpu: '9e999'}}",
                "overhead: {cpu: '9e999'}",
                "overhead: {cpu: 9e999}",
                "resourceClaims: [{}]",
                "schedulingGates: [{}]",
                "containers: [{name: c, resources: {limits: {cpu: {}}}}]",
                "containers: [{name: c, resources: {limits: {tencent.com/vcuda-core: ''}}}]",
                "overhead: {cpu: [1]}",
                "nodeSelector: [1]",
                "containers: {}"
            })
    void anOddPodIsExplainedOrRefusedInWords(String odd) throws Exception {
        String pod = NEW.replace("spec:", "spec:\n  " + odd);
        String own =
                odd.startsWith("containers")
                        ? pod.substring(0, pod.indexOf("\n  containers:\n"))
                        : pod;

        HttpResponse<String> answer = newPod("reader", "team-a", own);

        assertThat(answer.statusCode()).as(answer.body()).isIn(200, 422);
    }

    /** Its aliases would stand for more than any memory holds. */
    @Test
    void yamlIsNotRead() throws Exception {
        var bomb = new StringBuilder("kind: Pod\nmetadata:\n  a0: &a0 [x, x, x, x, x]\n");
        for (int i = 1; i < 24; i++) {
            bomb.append("  a%d: &a%d [".formatted(i, i));
            bomb.append("*a%d, ".formatted(i - 1).repeat(5)).append("]\n");
        }

        assertThat(posted("reader", "team-a", NEW, "application/yaml").statusCode()).isEqualTo(415);
        isProblem(
                posted("reader", "team-a", bomb.toString(), "application/json"),
                422,
                "The pod cannot be read");
    }

    @Test
    void ofWhatThereCouldBeNoPodIsRefusedWithWhatWouldBeLegal() throws Exception {
        isProblem(
                newPod("reader", "team-a", NEW.replace("kind: Pod", "kind: Service")),
                422,
                "kind is Service; use a Pod, as kubectl create --dry-run=server");
        isProblem(
                newPod("reader", "team-a", NEW.replace("\"60\"", "\"150\"")),
                422,
                "spec.containers: container \"cuda\": resources.limits[tencent.com/vcuda-core] is 150",
                "use ");
        isProblem(
                newPod("reader", "team-a", NEW.replace("name: later", "namespace: team-c")),
                422,
                "metadata.namespace is team-c; use team-a");
        isProblem(newPod("reader", "team-a", NEW.replace("\"60\"", "lots")), 422, "lots");
        isProblem(newPod("reader", "team-a", "kind: Pod"), 422, "spec.containers is empty");
        for (String none : List.of("null", "[null]")) {
            isProblem(
                    newPod("reader", "team-a", "kind: Pod\nspec: {containers: %s}".formatted(none)),
                    422,
                    "spec.containers is empty");
        }
        isProblem(
                newPod("reader", "team-a", NEW.replace("limits:", "requests: {cpu: abc}, limits:")),
                422,
                "abc");
        assertThat(
                        newPod(
                                        "reader",
                                        "team-a",
                                        NEW.replace(
                                                "containers:",
                                                "tolerations: null\n  initContainers: null\n  containers:"))
                                .statusCode())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "just words", "[]", "\"text\"", "null", "{\"kind\": \"Pod\""})
    void whatIsNoPodIsRefusedInWords(String body) throws Exception {
        isProblem(posted("reader", "team-a", body, "application/json"), 422, "The pod ");
    }

    @Test
    void noQuestionTakesMoreMemoryThanThereIsForIt() throws Exception {
        isProblem(
                posted("reader", "team-a", "{\"kind\": " + "[".repeat(30_000), "application/json"),
                422);
        isProblem(
                posted(
                        "reader",
                        "team-a",
                        "{\"kind\": \"Pod\"" + " ".repeat(1 << 20) + "}",
                        "application/json"),
                413,
                "32 KiB at most");
    }
}

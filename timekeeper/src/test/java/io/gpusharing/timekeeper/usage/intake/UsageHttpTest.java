package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.ClusterSigner.claims;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.reporter.ClusterKeys;
import io.gpusharing.timekeeper.usage.reporter.Pods;
import io.gpusharing.timekeeper.usage.reporter.ReporterTokens;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import io.gpusharing.timekeeper.usage.reporter.UsageSecurity;
import io.gpusharing.timekeeper.web.ProblemWriter;
import io.gpusharing.timekeeper.web.TrustBundle;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessResourceFailureException;

/**
 * The whole way of a report over HTTP, on a real database, with tokens as the cluster signs them.
 */
class UsageHttpTest {

    private static final ClusterSigner CLUSTER = ClusterSigner.ec();
    private static final Map<UUID, ReportingPod> PODS = new ConcurrentHashMap<>();
    private static final AtomicBoolean DATABASE_AWAY = new AtomicBoolean();

    private static ServletWebServerApplicationContext context;
    private static int port;
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final UUID pod = UUID.randomUUID();
    private final UUID run = UUID.randomUUID();
    private final String token = CLUSTER.sign(claims(pod, Instant.now()).build());

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @EnableConfigurationProperties(UsageProperties.class)
    @Import({UsageReportController.class, UsageSecurity.class, ProblemWriter.class})
    static class Application {

        // Other tests go on with it.
        @Bean(destroyMethod = "")
        DataSource dataSource() {
            return ReportDatabase.DATA_SOURCE;
        }

        @Bean
        MeterRegistry meterRegistry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        Clock clock() {
            return Clock.systemUTC();
        }

        @Bean
        ReportAuthorizer authorizer() {
            return new ReportAuthorizer("gpusharing-system/gpusharing-node-agent");
        }

        @Bean
        ReporterTokens reporterTokens(Clock clock) {
            return new ReporterTokens(new ClusterKeys(CLUSTER), token -> Optional.empty(), clock);
        }

        @Bean
        CommitLanes commits(UsageProperties properties) {
            UsageReportRepository reports =
                    new UsageReportRepository(
                            ReportDatabase.rows("http"), ReportDatabase.transaction(), properties);
            return new CommitLanes(
                    List.of(
                            new GroupCommit(
                                    batch -> {
                                        if (DATABASE_AWAY.get()) {
                                            throw new DataAccessResourceFailureException(
                                                    "connection refused");
                                        }
                                        return reports.post(batch);
                                    },
                                    properties.maxBatch(),
                                    properties.maxWaiting(),
                                    properties.patience())));
        }

        @Bean
        UsageMetrics usageMetrics(MeterRegistry registry) {
            return new UsageMetrics(registry);
        }

        @Bean
        RefusalNotices refusalNotices() {
            return new RefusalNotices(
                    new Events(new KubernetesClientBuilder().build(), Names.TIMEKEEPER),
                    task -> {});
        }

        @Bean
        ProcessReports processReports() {
            return new ProcessReports(
                    new RunningProcesses(ReportDatabase.rows("http")), true, Runnable::run);
        }

        @Bean
        AgentFindings agentFindings() {
            return new AgentFindings(
                    new KubernetesClientBuilder().build(),
                    Reports.NOBODY_WANTS_TO_KNOW,
                    task -> {});
        }

        @Bean
        TrustBundle trustBundle() {
            return () -> "-----BEGIN CERTIFICATE-----";
        }

        @Bean
        Pods pods() {
            return Reports.watched(uid -> Optional.ofNullable(PODS.get(uid)), true);
        }
    }

    @BeforeAll
    static void start() {
        context =
                (ServletWebServerApplicationContext)
                        new SpringApplicationBuilder(Application.class)
                                .properties(
                                        "spring.config.location=optional:classpath:/none/",
                                        "server.port=0",
                                        "spring.flyway.enabled=false",
                                        "spring.threads.virtual.enabled=true",
                                        "spring.mvc.problemdetails.enabled=true",
                                        "gpusharing.usage.max-report-size=64KB")
                                .run();
        port = java.util.Objects.requireNonNull(context.getWebServer()).getPort();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    UsageHttpTest() {
        PODS.put(
                pod,
                new ReportingPod(pod, "n1", Instant.now().minus(Duration.ofHours(1)), 1, false));
    }

    private String report(long sequence, long busySeconds) {
        return ReportReaderTest.REFERENCE
                .replace("6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11", run.toString())
                .replace("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10", pod.toString())
                .replace("\"sequence\": 42", "\"sequence\": " + sequence)
                .replace("123456789", Long.toString(busySeconds * 1_000_000));
    }

    private HttpResponse<String> post(String bearer, String body) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:%d/api/v1/usage".formatted(port)))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body));
        if (!bearer.isEmpty()) {
            request.header("Authorization", "Bearer " + bearer);
        }
        return CLIENT.send(request.build(), BodyHandlers.ofString());
    }

    private static void isProblem(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type").orElse(""))
                .startsWith("application/problem+json");
        assertThat(response.body()).contains("\"detail\"").doesNotContain("\tat ");
    }

    @Test
    void takesAReportAndSaysSo() throws Exception {
        HttpResponse<String> response = post(token, report(1, 100));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body())
                .contains("\"result\":\"Accepted\"")
                .contains("\"mode\":\"Full\"")
                .contains("\"ca\":\"-----BEGIN CERTIFICATE-----\"");
    }

    @Test
    void answersDuplicateTheSecondTime() throws Exception {
        post(token, report(1, 100));

        assertThat(post(token, report(1, 100)).body()).contains("\"result\":\"Duplicate\"");
    }

    @Test
    void anotherContentUnderTheSameSequenceIsAConflict() throws Exception {
        post(token, report(1, 100));

        isProblem(post(token, report(1, 101)), 409);
    }

    @Test
    void noTokenIsUnauthorized() throws Exception {
        isProblem(post("", report(1, 100)), 401);
    }

    @Test
    void aForgedTokenIsUnauthorized() throws Exception {
        isProblem(
                post(ClusterSigner.ec().sign(claims(pod, Instant.now()).build()), report(1, 100)),
                401);
    }

    @Test
    void theTokenOfAnotherPodIsForbidden() throws Exception {
        UUID other = UUID.randomUUID();
        PODS.put(other, new ReportingPod(other, "n1", Instant.now(), 1, false));

        isProblem(post(CLUSTER.sign(claims(other, Instant.now()).build()), report(1, 100)), 403);
    }

    @Test
    void theTokenOfAPodThatIsGoneIsForbidden() throws Exception {
        PODS.remove(pod);

        isProblem(post(token, report(1, 100)), 403);
    }

    @Test
    void amountsBeyondPhysicsAreForbidden() throws Exception {
        isProblem(post(token, report(1, 1_000_000)), 403);
    }

    @Test
    void countersThatFallAreRefusedAndTheAnswerAsksTheMeterForAnotherRun() throws Exception {
        post(token, report(1, 100));

        HttpResponse<String> fell = post(token, report(2, 99));

        isProblem(fell, 409);
        assertThat(fell.body()).contains("\"type\":\"urn:gpusharing:problem:run-refused\"");
    }

    @Test
    void aRefusalThatAnotherRunCannotMendHasNoSuchType() throws Exception {
        assertThat(post(token, "{").body()).doesNotContain("run-refused");
    }

    @Test
    void nonsenseIsABadRequest() throws Exception {
        isProblem(post(token, "{"), 400);
    }

    @Test
    void aHugeBodyIsTooLarge() throws Exception {
        isProblem(post(token, " ".repeat(65 * 1024) + report(1, 100)), 413);
    }

    @Test
    void withTheDatabaseAwayNothingIsTakenAndTheAnswerSaysWhenToComeBack() throws Exception {
        DATABASE_AWAY.set(true);
        try {
            HttpResponse<String> response = post(token, report(1, 100));

            isProblem(response, 503);
            assertThat(response.headers().firstValue("Retry-After")).contains("5");
        } finally {
            DATABASE_AWAY.set(false);
        }
        assertThat(post(token, report(1, 100)).body()).contains("\"result\":\"Accepted\"");
    }

    @Test
    void countsWhatItRefusesByReason() throws Exception {
        MeterRegistry registry = context.getBean(MeterRegistry.class);
        List<String> tags = List.of("result", "refused", "reason", "impossible_amount");
        post(token, report(7, 1_000_000));

        assertThat(
                        registry.get("gpusharing.usage.reports")
                                .tags(tags.toArray(String[]::new))
                                .counter()
                                .count())
                .isPositive();
    }

    @Test
    void aHundredAtOnceAreAllTaken() throws Exception {
        var answers =
                java.util.stream.LongStream.rangeClosed(1, 100)
                        .parallel()
                        .mapToObj(sequence -> {
                            try {
                                return post(token, report(sequence, sequence)).statusCode();
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        })
                        .toList();

        assertThat(answers).hasSize(100).containsOnly(200);
        assertThat(
                        ReportDatabase.jdbc()
                                .queryForObject(
                                        "select count(*) from usage_report where reporter = ?",
                                        Long.class,
                                        pod))
                .isEqualTo(100);
    }
}

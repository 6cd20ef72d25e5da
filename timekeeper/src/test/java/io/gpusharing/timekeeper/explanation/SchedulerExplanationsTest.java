package io.gpusharing.timekeeper.explanation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.explanation.FakeScheduler.Answer;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.State;
import io.gpusharing.wire.ExplanationQuestion;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.json.JsonMapper;

/** Over TLS, with a scheduler that answers what a test says. */
class SchedulerExplanationsTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String WAITS =
            """
            {"asOf":"2026-03-01T12:00:00.123456789Z","namespace":"team-a","name":"train","state":"Waits","summary":"No GPU is free."}
            """;

    private static final ExplanationQuestion QUESTION =
            new ExplanationQuestion(
                    "ada@example.com",
                    "uid-1",
                    List.of("research", "system:authenticated"),
                    Map.of("scopes.authorization.openshift.io", List.of("user:info", "user:full")),
                    new PodName("team-a", "train"),
                    null,
                    5);

    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-01T12:00:00Z"));
    private final FakeScheduler scheduler = new FakeScheduler(question -> Answer.explained(WAITS));
    private HttpServer apiServer;
    private KubernetesClient client;
    private volatile String published = scheduler.authority();
    private Path token;
    private SchedulerExplanations explanations;

    @BeforeEach
    void start(@TempDir Path folder) throws IOException {
        apiServer =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        apiServer.createContext(
                "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-scheduler-ca",
                this::configMap);
        apiServer.start();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder()
                                        .withAutoConfigure(false)
                                        .withMasterUrl(
                                                "http://127.0.0.1:"
                                                        + apiServer.getAddress().getPort())
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .build();
        token = folder.resolve("token");
        Files.writeString(token, "ours\n");
        var properties =
                new ExplanationProperties(scheduler.url(), "gpusharing-scheduler-ca", token);
        explanations =
                new SchedulerExplanations(
                        new SchedulerConnections(client, "gpusharing-system", properties, clock),
                        properties,
                        clock);
    }

    private void configMap(HttpExchange exchange) throws IOException {
        String map = JSON.writeValueAsString(Map.of("data", Map.of("ca.crt", published)));
        byte[] body = (published.isEmpty() ? "{}" : map).getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(published.isEmpty() ? 404 : 200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @AfterEach
    void end() {
        client.close();
        apiServer.stop(0);
        scheduler.close();
    }

    private ResponseStatusException refused() {
        return catchThrowableOfType(
                ResponseStatusException.class, () -> explanations.ask(QUESTION));
    }

    private void nobodySaysIt() {
        ResponseStatusException refused = refused();
        assertThat(refused.getStatusCode().value()).isEqualTo(503);
        assertThat(refused.getReason())
                .isEqualTo(
                        "No scheduler of GPUSharing says now where pods fit; ask again in a few seconds");
    }

    @Test
    void theSchedulerIsAskedByWhoAsksAndAsOurselves() {
        Explanation explanation = explanations.ask(QUESTION);

        assertThat(explanation.state()).isEqualTo(State.Waits);
        assertThat(JSON.writeValueAsString(explanation)).isEqualTo(JSON.readTree(WAITS).toString());
        assertThat(scheduler.questions).containsExactly(QUESTION);
        assertThat(scheduler.tokens).containsExactly("Bearer ours");
    }

    @Test
    void anotherTokenIsShownOnceThereIsOne() throws IOException {
        explanations.ask(QUESTION);
        Files.writeString(token, "ours, too");
        explanations.ask(QUESTION);

        assertThat(scheduler.tokens).containsExactly("Bearer ours", "Bearer ours, too");
    }

    @ParameterizedTest
    @CsvSource({
        "404, There is no pod train in team-a",
        "413, A question has 64 KiB at most",
        "422, The pod cannot be read: a",
        "503, The scheduler is still reading the cluster"
    })
    void whatIsSaidToThePersonIsPassedOn(int status, String detail) {
        scheduler.answers(question -> Answer.problem(status, detail));

        ResponseStatusException refused = refused();

        assertThat(refused.getStatusCode().value()).isEqualTo(status);
        assertThat(refused.getReason()).isEqualTo(detail);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 403, 404, 405, 408, 413, 500, 503})
    void whatIsSaidToUsIsNotTakenForThePersons(int status) {
        scheduler.answers(question -> Answer.text(status, "another alone may ask"));

        nobodySaysIt();
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403})
    void norIsItWhereItLooksSo(int status) {
        scheduler.answers(question -> Answer.problem(status, "this needs a right"));

        nobodySaysIt();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "{\"state\":\"Elsewhere\"}", "<html>"})
    void anAnswerThatIsNoneIsNotPassedOn(String answer) {
        scheduler.answers(question -> Answer.explained(answer));

        nobodySaysIt();
    }

    @Test
    void anAnswerWithoutEndIsNotReadToItsEnd() {
        scheduler.answers(question ->
                Answer.explained(WAITS.replace("No GPU", "No GPU".repeat(2 * 1024 * 1024))));

        nobodySaysIt();
    }

    @Test
    void anotherReplicaIsAskedWhereOneHasNotReadTheCluster() {
        var asked = new AtomicInteger();
        scheduler.answers(question ->
                asked.incrementAndGet() == 1
                        ? Answer.problem(503, "still reading")
                        : Answer.explained(WAITS));

        assertThat(explanations.ask(QUESTION).name()).isEqualTo("train");
        assertThat(asked).hasValue(2);
    }

    @Test
    void whereNobodyAnswersThatIsSaid() {
        scheduler.close();

        nobodySaysIt();
    }

    @Test
    void whoeverIsOfAnotherAuthorityIsToldNothing() {
        try (var other = new FakeScheduler(question -> Answer.explained(WAITS))) {
            published = other.authority();

            nobodySaysIt();
        }
        assertThat(scheduler.questions).isEmpty();
        assertThat(scheduler.tokens).isEmpty();
    }

    @Test
    void anotherAuthorityIsFollowed() {
        try (var other = new FakeScheduler(question -> Answer.explained(WAITS))) {
            published = other.authority();
            nobodySaysIt();
            published = scheduler.authority();

            assertThat(explanations.ask(QUESTION).name()).isEqualTo("train");
        }
    }

    @Test
    void whatWasPublishedLastIsKeptWhereItCannotBeRead() {
        explanations.ask(QUESTION);
        published = "";
        clock.pass(Duration.ofMinutes(1));

        assertThat(explanations.ask(QUESTION).name()).isEqualTo("train");
    }

    @Test
    void beforeTheSchedulerHasPublishedItsAuthorityNobodyIsAsked() {
        published = "";
        nobodySaysIt();
        published = "no certificate";
        nobodySaysIt();

        assertThat(scheduler.tokens).isEmpty();
    }

    @Test
    void withoutATokenOfItsOwnTheSchedulerIsNotShownThatOfTheApiServer() throws IOException {
        client.getConfiguration().setOauthToken("the API server's");
        client.getConfiguration().setAutoOAuthToken("the API server's");

        Files.delete(token);
        nobodySaysIt();
        Files.writeString(token, "\n");
        nobodySaysIt();

        assertThat(scheduler.questions).isEmpty();
        assertThat(scheduler.tokens).isEmpty();
    }
}

package io.gpusharing.cli;

import static io.gpusharing.cli.FakeApiServer.BUDGETS;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuoteTest {

    private static final String QUOTES =
            "/apis/usage.gpusharing.io/v1alpha1/namespaces/team-a/quotes";

    private static final String ANSWER =
            """
            {"kind":"Quote","apiVersion":"usage.gpusharing.io/v1alpha1","spec":{"manifest":{},"for":"3h"},
             "status":{"summary":"2 pods are charged as 1 to 4 GPUs","budget":"team-a","pods":2,"podsAtOnce":2,
              "prices":[{"model":"H200","gpus":"4","minutesPerHour":"240.000"},{"gpus":"1","minutesPerHour":"60.000"}],
              "gpuMinutes":"720.000","onExhausted":"Reclaim","notKnown":["A40 has no weight"],"later":"added"}}
            """;

    private static final String BUDGET =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuBudget
            metadata: {name: team-a, creationTimestamp: "2026-11-01T00:00:00Z"}
            spec: {namespaces: [team-a], gpuMinutes: "600", onExhausted: Reclaim, share: {reference: %s}}
            status:
              asOf: "2026-11-27T08:00:00Z"
              period: {start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z"}
              granted: 36000000000
              used: 21600000000
              remaining: 14400000000
              rate: 1000000
              credits:
              - {source: allowance, remaining: 14400000000, from: "2026-11-01T00:00:00Z", until: "2026-12-01T00:00:00Z"}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
        api.has(BUDGETS, BUDGET.formatted("WholeGpu"));
        api.passesOn(QUOTES, 201, ANSWER, "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private Answer quote(String cores, String... options) throws IOException {
        Path file = folder.resolve("twice.yaml");
        Files.writeString(
                file,
                """
                apiVersion: batch/v1
                kind: Job
                metadata: {name: twice}
                spec:
                  parallelism: 2
                  template:
                    spec:
                      containers:
                      - name: cuda
                        resources: {limits: {tencent.com/vcuda-core: %s, tencent.com/vcuda-memory: 16}}
                """
                        .formatted(cores));
        List<String> all = new ArrayList<>(List.of("quote", "-f", file.toString()));
        all.addAll(List.of(options));
        return shell.run(all.toArray(String[]::new));
    }

    @Test
    void theTimekeeperSaysWhatAManifestCosts() throws IOException {
        assertThat(quote("50", "--for", "3h"))
                .isEqualTo(
                        new Answer(
                                "2 pods are charged as 1 to 4 GPUs\n",
                                "The price may differ: A40 has no weight\n",
                                0));
        assertThat(api.bodies.getLast())
                .contains("\"kind\":\"Quote\"", "\"for\":\"3h\"", "\"parallelism\":2");
    }

    @Test
    void whoWantsToKnowMoreSeesEachModel() throws IOException {
        assertThat(quote("50", "-o", "wide").out())
                .isEqualTo(
                        """
                        2 pods are charged as 1 to 4 GPUs
                        MODEL   PODS   AT-ONCE   GPUS   MINUTES/HOUR
                        H200    2      2         4      240.000
                        -       2      2         1      60.000
                        """);
        assertThat(quote("50", "-o", "json"))
                .satisfies(answer -> {
                    assertThat(answer.out())
                            .startsWith("{")
                            .contains("\"gpuMinutes\" : \"720.000\"", "\"budget\" : \"team-a\"");
                    assertThat(answer.err()).isEmpty();
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404, 503})
    void withoutTheTimekeeperTheBudgetsStatusSaysIt(int code) throws IOException {
        api.passesOn(QUOTES, code, "", "");

        Answer answer = quote("50", "--for", "3h");

        assertThat(answer.out())
                .isEqualTo(
                        "2 pods are charged as 1 GPU: 60.000 GPU-minutes an hour, 180.000 in all. The budget team-a has 240.000 left, and with what its pods hold now it is used up at 2026-11-27T10:00:00Z: its pods may be evicted from then on when a pod in budget waits\n");
        assertThat(answer.err())
                .startsWith(
                        "The price may differ: the memory part depends on the size of the node's GPUs\nThe price may differ: some GPU models may have a weight, which only the timekeeper knows\nComputed from the budget's status alone. ");
        assertThat(answer.code()).isZero();
    }

    @Test
    void aQuotaIsNotKnownWithoutTheTimekeeper() throws IOException {
        api.has(BUDGETS, BUDGET.formatted("FromQuota"));
        api.passesOn(QUOTES, 503, "", "");

        assertThat(quote("50").err()).contains("its budget charges by the namespace's quota");
    }

    @Test
    void withoutTheTimekeeperWhatIsIllegalIsSaid() throws IOException {
        api.passesOn(QUOTES, 503, "", "");

        assertThat(quote("150"))
                .satisfies(answer -> {
                    assertThat(answer.err()).startsWith("error: spec.template.spec.containers");
                    assertThat(answer.code()).isOne();
                });
    }

    @Test
    void whatIsNoLengthIsSaidBeforeAnybodyIsAsked() throws IOException {
        assertThat(quote("50", "--for", "soon"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: --for: \"soon\" is no length of time; write for instance 90m, 3h or 2d12h, and no more than 366d\n",
                                1));
        assertThat(api.requests).isEmpty();
        assertThat(shell.run("quote").code()).isEqualTo(2);
    }
}

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

    private static final String DRY_RUN =
            "/api/v1/namespaces/team-a/pods?dryRun=All&fieldValidation=Strict&fieldManager=kubectl-gpusharing";

    private static final String ADMITTED =
            """
            {"kind":"Pod","metadata":{"name":"twice-x7k2p"},"spec":{"containers":[
              {"name":"cuda","resources":{"limits":{"tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"16"}}}]}}
            """;

    private static final String ANSWER =
            """
            {"kind":"Quote","apiVersion":"usage.gpusharing.io/v1alpha1","spec":{"newPod":{},"for":"3h"},
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
        api.passesOn(DRY_RUN, 201, ADMITTED, "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static String twice(String cores) {
        return """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: twice}
        spec:
          parallelism: 2
          activeDeadlineSeconds: 86400
          template:
            spec:
              containers:
              - name: cuda
                resources: {limits: {tencent.com/vcuda-core: %s, tencent.com/vcuda-memory: 16}}
        """
                .formatted(cores);
    }

    private Answer quote(String cores, String... options) throws IOException {
        return quoteFile(twice(cores), options);
    }

    private Answer quoteFile(String text, String... options) throws IOException {
        Path file = Files.writeString(folder.resolve("jobs.yaml"), text);
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
                .contains(
                        "\"kind\":\"Quote\"",
                        "\"for\":\"3h\"",
                        "\"pods\":2",
                        "\"atOnce\":2",
                        "\"activeDeadlineSeconds\":86400",
                        "\"newPod\":{");
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
                        "No: 2 pods are charged as 1 GPU: 60.000 GPU-minutes an hour, 180.000 in all. The budget team-a has 240.000 left, and with what its pods hold now it is used up at 2026-11-27T10:00:00Z: its pods may be evicted from then on when a pod in budget waits\n");
        assertThat(answer.err())
                .startsWith("Computed from the budget's status alone. ")
                .endsWith(
                        "The price may differ: the memory part depends on the size of the node's GPUs\nThe price may differ: some GPU models may have a weight, which only the timekeeper knows\n");
        assertThat(answer.code()).isZero();
    }

    @Test
    void aQuotaIsNotKnownWithoutTheTimekeeper() throws IOException {
        api.has(BUDGETS, BUDGET.formatted("FromQuota"));
        api.passesOn(QUOTES, 503, "", "");

        assertThat(quote("50").err()).contains("its budget charges by the namespace's quota");
    }

    @Test
    void whatAdmissionRefusesHasNoPrice() throws IOException {
        api.passesOn(DRY_RUN, 422, "{\"message\":\"150 is no share\"}", "");

        assertThat(quote("150")).isEqualTo(new Answer("", "error: 150 is no share\n", 1));
    }

    @Test
    void withoutTheTimekeeperAndTheRightToCreatePodsWhatIsIllegalIsSaid() throws IOException {
        api.passesOn(QUOTES, 503, "", "");
        api.passesOn(DRY_RUN, 403, "{\"message\":\"cannot create resource \\\"pods\\\"\"}", "");

        assertThat(quote("50").out()).startsWith("No: 2 pods are charged as 1 GPU");
        assertThat(quote("150"))
                .satisfies(answer -> {
                    assertThat(answer.err())
                            .startsWith("You may not create pods in team-a")
                            .contains("error: spec.template.spec.containers");
                    assertThat(answer.code()).isOne();
                });
    }

    @Test
    void ofManyObjectsEachHasItsPrice() throws IOException {
        String two = twice("50") + "---\n" + twice("50").replace("name: twice", "name: again");

        assertThat(quoteFile(two))
                .satisfies(answer -> {
                    assertThat(answer.out())
                            .isEqualTo(
                                    "Job twice\n2 pods are charged as 1 to 4 GPUs\nJob again\n2 pods are charged as 1 to 4 GPUs\n");
                    assertThat(answer.err())
                            .endsWith("Each is quoted as if it were the only one.\n");
                });
        assertThat(quoteFile(two, "-o", "json").out()).startsWith("[");
        assertThat(quoteFile(two, "-o", "csv").out().lines()).hasSize(5);
    }

    @Test
    void howManyPodsNobodyCanSayIsSaid() throws IOException {
        assertThat(quoteFile("kind: DaemonSet").err())
                .contains("document 1: kind is DaemonSet, which makes a pod on each node");
        assertThat(
                        quoteFile(
                                        "kind: RayJob\nspec: {template: {spec: {containers: [{name: c}]}}}")
                                .err())
                .contains("document 1: nobody here knows how many pods a RayJob makes; use Pod");
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

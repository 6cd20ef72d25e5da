package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExplainTest {

    private static final String PODS = "/api/v1/namespaces/team-a/pods";
    private static final String EVENTS = "/api/v1/namespaces/team-a/events";
    private static final String EXPLANATIONS =
            "/apis/usage.gpusharing.io/v1alpha1/namespaces/team-a/explanations";

    private static final String SUMMARY =
            "No GPU has 50 of 100 and 4096 MiB free: 1 node has no room; tencent.com/vcuda-core: 40 in cuda would fit on n1 now";

    private static final String ANSWER =
            """
            {"kind":"Explanation","apiVersion":"usage.gpusharing.io/v1alpha1","spec":{"pod":"train"},
             "status":{"asOf":"2026-11-27T08:00:00Z","namespace":"team-a","name":"train","state":"Waits","summary":"%s",
              "details":[{"name":"n1","fits":false,"reason":"no_room","text":"no room","sumSuffices":false,"gpus":[
                {"index":0,"uuid":"GPU-0","healthy":true,"total":{"core":100,"memoryMiB":81920},"free":{"core":40,"memoryMiB":61440},"reason":"no_room"},
                {"uuid":"GPU-1","healthy":true,"total":{"core":100,"memoryMiB":81920},"free":{"core":0,"memoryMiB":0},"reason":"whole"}]}]}}
            """
                    .formatted(SUMMARY);

    private static final String TRAIN =
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: train
              annotations: %s
            spec: {containers: [{name: cuda}], priorityClassName: gpusharing-over-budget, priority: %d}
            status:
              phase: Pending
              conditions:
              - {type: PodScheduled, status: "False", reason: Unschedulable, message: 0/1 nodes are available}
              - {type: gpusharing.io/Placement, status: "False", message: "n1: its GPUs have no room"}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
        api.has(PODS, TRAIN.formatted("{}", 0));
        api.passesOn(EXPLANATIONS, 201, ANSWER, "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private Answer explainHalf(String cores) throws IOException {
        Path file = folder.resolve("half.yaml");
        Files.writeString(
                file,
                """
                apiVersion: batch/v1
                kind: Job
                metadata: {name: half}
                spec:
                  template:
                    spec:
                      containers:
                      - name: cuda
                        resources: {limits: {tencent.com/vcuda-core: %s, tencent.com/vcuda-memory: 16}}
                """
                        .formatted(cores));
        return shell.run("explain", "-f", file.toString());
    }

    @Test
    void aPodIsExplainedInASentence() {
        assertThat(shell.run("explain", "train")).isEqualTo(new Answer(SUMMARY + "\n", "", 0));
        assertThat(api.bodies.getLast()).contains("\"pod\":\"train\"", "\"nodes\":5");
    }

    @Test
    void whoWantsToKnowMoreSeesEveryGpu() {
        assertThat(shell.run("explain", "train", "-o", "wide").out())
                .isEqualTo(
                        """
                        %s
                        NODE   GPU     CORE     MEMORY(MiB)   REASON
                        n1     0       40/100   61440/81920   no_room
                        n1     GPU-1   0/100    0/81920       whole
                        """
                                .formatted(SUMMARY));
        assertThat(shell.run("explain", "train", "-o", "json").out())
                .contains("\"state\" : \"Waits\"", "\"sumSuffices\" : false")
                .doesNotContain("\"kind\"");
    }

    @ParameterizedTest
    @CsvSource({
        "-100, ', so it has the priority class gpusharing-over-budget and gives way to pods in budget; it keeps that: once kubectl gpusharing budgets says InBudget, create it anew'",
        "0, '; kubectl gpusharing budgets says what is left now'"
    })
    void whoWasAdmittedOverBudgetIsToldWhatThatMeans(int priority, String consequence) {
        api.has(
                PODS,
                TRAIN.formatted(
                        "{gpusharing.io/standing: OverBudget, gpusharing.io/standing-as-of: '2026-11-27T07:00:00Z', gpusharing.io/budget: team-a}",
                        priority));

        assertThat(shell.run("explain", "train"))
                .isEqualTo(
                        new Answer(
                                SUMMARY + "\n",
                                "The budget team-a was used up when the pod was admitted (2026-11-27T07:00:00Z)%s\n"
                                        .formatted(consequence),
                                0));
    }

    @Test
    void ofAPodThatIsGoneItsEventsAreLeft() {
        api.has(
                EVENTS,
                event(
                        "a",
                        "2026-11-27T07:10:00.000000Z",
                        "gpusharing-timekeeper",
                        "Evicted for team-b/x"),
                event("b", "2026-11-27T07:00:00.000000Z", "gpusharing-timekeeper", "Over budget"),
                event("c", "2026-11-27T07:00:00.000000Z", "kubelet", "Killing"));

        Answer answer = shell.run("explain", "gone");

        assertThat(answer.out())
                .isEqualTo(
                        """
                        2026-11-27T07:00:00.000000Z Over budget
                        2026-11-27T07:10:00.000000Z Evicted for team-b/x
                        """);
        assertThat(answer.err()).isEqualTo("There is no pod gone in team-a any more\n");
        assertThat(api.requests.getLast())
                .contains("involvedObject.kind%3DPod", "involvedObject.name%3Dgone");
    }

    private static String event(String name, String time, String by, String message) {
        return "{\"apiVersion\": \"v1\", \"kind\": \"Event\", \"metadata\": {\"name\": \"%s\"}, \"eventTime\": \"%s\", \"reportingComponent\": \"%s\", \"message\": \"%s\"}"
                .formatted(name, time, by, message);
    }

    @Test
    void ofAPodThatNeverWasNothingIsKnown() {
        api.has(EVENTS);

        assertThat(shell.run("explain", "nobody"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: There is no pod nobody in team-a, and no Event tells of one that was evicted\n",
                                1));
    }

    @Test
    void aManifestIsExplainedWithoutItsPod() throws IOException {
        assertThat(explainHalf("50")).isEqualTo(new Answer(SUMMARY + "\n", "", 0));
        assertThat(api.bodies.getLast()).contains("\"manifest\":{", "\"kind\":\"Job\"");
    }

    @Test
    void whatNobodyCouldMakeAPodOfIsSaid() throws IOException {
        api.passesOn(
                EXPLANATIONS,
                422,
                "{\"kind\":\"Status\",\"code\":422,\"message\":\"spec.template.spec.containers: 150 is no share\"}",
                "");

        assertThat(explainHalf("150"))
                .isEqualTo(
                        new Answer(
                                "", "error: spec.template.spec.containers: 150 is no share\n", 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404, 503})
    void withoutTheTimekeeperThePodItselfSaysWhatIsKnown(int code) {
        api.passesOn(EXPLANATIONS, code, "", "");

        Answer answer = shell.run("explain", "train");

        assertThat(answer.out()).isEqualTo("n1: its GPUs have no room\n");
        assertThat(answer.err()).startsWith("Where it would fit only the timekeeper knows. ");
        assertThat(answer.code()).isZero();
        assertThat(shell.run("explain", "train", "-o", "json"))
                .extracting(Answer::out, Answer::code)
                .containsExactly("", 1);
    }

    @Test
    void withoutTheTimekeeperAManifestIsJudgedByTheRules() throws IOException {
        api.passesOn(EXPLANATIONS, 503, "", "");

        assertThat(explainHalf("50").out())
                .isEqualTo(
                        "It is legal, and asks for cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=16\n");
        Answer illegal = explainHalf("150");
        assertThat(illegal.out()).isEmpty();
        assertThat(illegal.err())
                .contains("tencent.com/vcuda-core", "150", "error: ", "spec.template.");
        assertThat(illegal.code()).isOne();
    }

    @Test
    void aManifestIsAskedAboutWhereItSaysUnlessTheUserSaysOtherwise() throws IOException {
        Path file = folder.resolve("elsewhere.yaml");
        Files.writeString(file, "kind: Pod\nmetadata: {namespace: team-b}\n");

        shell.run("explain", "-f", file.toString());
        assertThat(api.requests.getLast()).contains("/namespaces/team-b/");
        shell.run("explain", "-f", file.toString(), "-n", "team-c");
        assertThat(api.requests.getLast()).contains("/namespaces/team-c/");
    }

    @ParameterizedTest
    @CsvSource({
        "'a: [', neither JSON nor YAML",
        "'', no object",
        "'a: 1\n---\nb: 2', several documents"
    })
    void aFileThatIsNoManifestIsSaid(String text, String problem) throws IOException {
        Path file = folder.resolve("broken.yaml");
        Files.writeString(file, text);

        Answer answer = shell.run("explain", "-f", file.toString());

        assertThat(answer.err()).startsWith("error: " + file).contains(problem);
        assertThat(answer.code()).isOne();
    }

    @Test
    void whatIsToBeExplainedIsNamed() {
        assertThat(shell.run("explain", "-f", folder.resolve("none").toString()).err())
                .startsWith("error: Cannot read ");
        assertThat(shell.run("explain").code()).isEqualTo(2);
    }
}

package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

    private static final String DRY_RUN =
            PODS + "?dryRun=All&fieldValidation=Strict&fieldManager=kubectl-gpusharing";
    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    /** As defaults and admission leave it. */
    private static final String ADMITTED =
            """
            {"apiVersion":"v1","kind":"Pod","metadata":{"name":"half-x7k2p","generateName":"half-","namespace":"team-a",
             "annotations":{"gpusharing.io/budget":"team-a","long":"%s"},"managedFields":[{}]},
             "spec":{"priority":-100,"priorityClassName":"gpu-over-budget","serviceAccountName":"default","containers":[
              {"name":"cuda","image":"cuda","env":[{"name":"TOKEN","value":"secret"}],
               "resources":{"limits":{"tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"16"}}}]}}
            """
                    .formatted("x".repeat(2000));

    private static final String NO_ROLE =
            """
            {"kind":"Status","code":403,"message":"pods is forbidden: User \\"vera\\" cannot create resource \\"pods\\" in API group \\"\\" in the namespace \\"team-a\\""}
            """;

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
        api.passesOn(DRY_RUN, 201, ADMITTED, "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static String half(String name, String cores) {
        return """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s}
        spec:
          template:
            metadata: {labels: {app: training}}
            spec:
              containers:
              - name: cuda
                resources: {limits: {tencent.com/vcuda-core: %s, tencent.com/vcuda-memory: 16}}
        """
                .formatted(name, cores);
    }

    private Answer explainHalf(String cores, String... options) throws IOException {
        return explain(half("half", cores), options);
    }

    private Answer explain(String text, String... options) throws IOException {
        Path file = Files.writeString(folder.resolve("jobs.yaml"), text);
        return shell.run(
                Stream.concat(Stream.of("explain", "-f", file.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    private void refuses(int code, String message) {
        api.passesOn(
                DRY_RUN,
                code,
                "{\"kind\":\"Status\",\"code\":%d,\"message\":\"%s\"}".formatted(code, message),
                "");
    }

    private void mayCreatePods(boolean allowed) {
        api.passesOn(REVIEWS, 201, "{\"status\":{\"allowed\":%s}}".formatted(allowed), "");
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

    private static String lowered(String more, String metadata) {
        return running(
                        "2026-11-27T07:00:00Z",
                        ", annotations: {gpusharing.io/standing: OverBudget, gpusharing.io/standing-as-of: '2026-11-27T07:00:00Z', gpusharing.io/budget: team-a%s}%s"
                                .formatted(more, metadata))
                .replace("nodeName: n1", "nodeName: n1, priority: -100, priorityClassName: low");
    }

    private static final String OWNED =
            ", ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: u, controller: true}]";

    /** The class stays; who preempts decides what it means. */
    @ParameterizedTest
    @CsvSource({
        "0,  false, false, ' and gives way to pods in budget; it keeps that: once kubectl gpusharing budgets says InBudget, create it anew'",
        "0,  true,  false, ' and gives way to pods in budget until kubectl gpusharing budgets says InBudget'",
        "60, false, false, ' and keeps it. The budget has time again, and yet a scheduler that goes by the class preempts it for any pod in budget: create it anew'",
        "60, false, true,  ' and keeps it. The budget has time again, and yet a scheduler that goes by the class preempts it for any pod in budget: delete it, and its controller makes it anew'",
        "60, true,  false, '. The budget has time again: GPUSharing''s scheduler preempts it for no pod in budget, whatever its class'"
    })
    void whoRunsWithTheLowClassIsToldWhatItMeansNow(
            String minutes, boolean isOurs, boolean isOwned, String consequence) {
        api.has(
                FakeApiServer.BUDGETS,
                used("LowerPriority").replace("gpuMinutes: '0'", "gpuMinutes: " + minutes));
        api.has(
                PODS,
                lowered(
                        isOurs ? ", gpusharing.io/placement: 'u;cuda=GPU-0'" : "",
                        isOwned ? OWNED : ""));

        assertThat(shell.run("explain", "runs").err())
                .startsWith(
                        "The budget team-a was used up when the pod was admitted (2026-11-27T07:00:00Z), so it has the priority class low%s\n"
                                .formatted(consequence));
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

    private static final String APPS = "/apis/apps/v1/namespaces/team-a/";
    private static final String RAY = "/apis/ray.io/v1/namespaces/team-a/";

    /** The API server knows these kinds, each as {@code plural singular Kind short}. */
    private void knows(String path, String... kinds) {
        api.passesOn(
                path,
                200,
                Stream.of(kinds)
                        .map(it -> it.split(" ", -1))
                        .map(it ->
                                "{\"name\":\"%s\",\"singularName\":\"%s\",\"kind\":\"%s\",\"shortNames\":[\"%s\"],\"namespaced\":true,\"verbs\":[\"get\",\"list\"]}"
                                        .formatted((Object[]) it))
                        .collect(
                                Collectors.joining(
                                        ",",
                                        "{\"resources\":[{\"name\":\"nodes\",\"kind\":\"Node\",\"namespaced\":false},",
                                        "]}")),
                "");
    }

    private void hasADeployment(String... pods) {
        knows("/api/v1", "services service Service svc");
        knows(
                "/apis/apps/v1",
                "deployments deployment Deployment deploy",
                "replicasets replicaset ReplicaSet rs");
        api.has(
                APPS + "deployments",
                "{apiVersion: apps/v1, kind: Deployment, metadata: {name: serve, uid: d-1}}");
        api.has(
                APPS + "replicasets",
                owned("apps/v1, kind: ReplicaSet", "serve-1", "r-1", "apps/v1 Deployment d-1"),
                owned("apps/v1, kind: ReplicaSet", "other-1", "r-2", "apps/v1 Deployment d-2"));
        api.has(PODS, pods);
        api.has(
                EVENTS,
                refusal("a", "ReplicaSet, uid: r-1", "2026-11-27T07:00:00Z", "exceeded quota"),
                refusal(
                        "b",
                        "ReplicaSet, uid: r-1",
                        "2026-11-27T07:30:00Z",
                        "150 is no share; use 1..99"),
                refusal("c", "ReplicaSet, uid: r-2", "2026-11-27T07:50:00Z", "of another"));
    }

    /**
     * @param owner its version, kind and UID
     */
    private static String owned(String kind, String name, String uid, String owner) {
        String[] by = owner.split(" ", -1);
        return "{apiVersion: %s, metadata: {name: %s, uid: %s, ownerReferences: [{apiVersion: %s, kind: %s, name: x, uid: %s}]}, spec: {containers: [{name: cuda}]}}"
                .formatted(kind, name, uid, by[0], by[1], by[2]);
    }

    private static String refusal(String name, String about, String time, String message) {
        return "{apiVersion: v1, kind: Event, metadata: {name: %s}, type: Warning, reason: FailedCreate, involvedObject: {apiVersion: apps/v1, kind: %s}, lastTimestamp: '%s', message: '%s'}"
                .formatted(name, about, time, message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "deployment/serve",
                "deploy/serve",
                "Deployments.apps/serve",
                "deployment.v1.apps serve"
            })
    void ofADeploymentEachPodIsExplainedAndTheLastRefusalIsSaid(String named) {
        api.passesOn("/apis", 200, groups("apps/v1"), "");
        hasADeployment(
                owned("v1, kind: Pod", "serve-1-b", "p-2", "apps/v1 ReplicaSet r-1"),
                owned("v1, kind: Pod", "serve-1-a", "p-1", "apps/v1 ReplicaSet r-1"),
                owned("v1, kind: Pod", "other-1-a", "p-3", "apps/v1 ReplicaSet r-2"));

        assertThat(explained(named))
                .isEqualTo(
                        new Answer(
                                "Pod serve-1-a\n%1$s\nPod serve-1-b\n%1$s\n".formatted(SUMMARY),
                                "Its last pod was refused at 2026-11-27T07:30:00Z: 150 is no share; use 1..99\n",
                                0));
        assertThat(explained(named + " -o json").out()).startsWith("[");
    }

    private Answer explained(String words) {
        return shell.run(("explain " + words).split(" ", -1));
    }

    private static String groups(String... versions) {
        return Stream.of(versions)
                .map(it -> it.split("/", -1))
                .map(it ->
                        "{\"name\":\"%1$s\",\"preferredVersion\":{\"groupVersion\":\"%1$s/%2$s\"},\"versions\":[{\"groupVersion\":\"%1$s/%2$s\",\"version\":\"%2$s\"}]}"
                                .formatted((Object[]) it))
                .collect(Collectors.joining(",", "{\"groups\":[", "]}"));
    }

    @Test
    void ofADeploymentWithoutPodsTheRefusalIsTheAnswer() {
        hasADeployment();

        assertThat(explained("deployment/serve"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: Its last pod was refused at 2026-11-27T07:30:00Z: 150 is no share; use 1..99\n",
                                1));
    }

    /** RayJob, RayCluster, pods; nothing of Ray is known here. */
    private void hasARayJob() {
        hasADeployment();
        api.passesOn("/apis", 200, groups("down.example.com/v1", "apps/v1", "ray.io/v1"), "");
        api.passesOn("/apis/down.example.com/v1", 503, "", "");
        knows(
                "/apis/ray.io/v1",
                "rayjobs rayjob RayJob -",
                "rayjobs/status rayjob RayJob -",
                "rayclusters raycluster RayCluster -");
        api.has(
                RAY + "rayjobs",
                "{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: tune, uid: j-1}}");
        api.has(
                RAY + "rayclusters",
                owned("ray.io/v1, kind: RayCluster", "tune-x7", "c-1", "ray.io/v1 RayJob j-1"),
                owned("ray.io/v1, kind: RayCluster", "circle", "c-2", "ray.io/v1 RayCluster c-2"));
        api.has(
                PODS,
                owned("v1, kind: Pod", "tune-head", "p-1", "ray.io/v1 RayCluster c-1"),
                owned("v1, kind: Pod", "circles", "p-2", "ray.io/v1 RayCluster c-2"),
                owned("v1, kind: Pod", "by-a-pod", "p-3", "v1 Pod p-1"),
                owned("v1, kind: Pod", "unknown", "p-4", "gone.io/v1 Gone g-1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rayjob/tune", "RayJob tune", "rayjobs.ray.io tune"})
    void whateverTheApiServerKnowsAsAKindIsExplainedByWhatItOwns(String named) {
        hasARayJob();

        assertThat(explained(named))
                .isEqualTo(
                        new Answer(
                                "Pod by-a-pod\n%1$s\nPod tune-head\n%1$s\n".formatted(SUMMARY),
                                "",
                                0));
    }

    /** Objects of operators may weigh megabytes, and a namespace may have thousands of pods. */
    @Test
    void whatIsAskedOfOwnersIsTheirMetadataAloneAndOnlyPodsThatAreExplainedAreReadWhole() {
        hasARayJob();

        explained("rayjob/tune");

        assertThat(List.of(RAY + "rayjobs/tune", RAY + "rayclusters", PODS))
                .allSatisfy(path ->
                        assertThat(api.wanted.get(path)).contains("as=PartialObjectMetadata"));
        assertThat(api.requests)
                .contains(PODS + "/tune-head")
                .doesNotContain(PODS + "/circles", PODS + "/unknown");
    }

    /** As an aggregated API may that knows nothing of metadata alone. */
    @Test
    void whoAnswersWithWholeObjectsIsUnderstoodToo() {
        hasARayJob();
        api.passesOn(
                RAY + "rayclusters",
                200,
                "{\"kind\":\"RayClusterList\",\"items\":[{\"apiVersion\":\"ray.io/v1\",\"kind\":\"RayCluster\",\"metadata\":{\"name\":\"tune-x7\",\"uid\":\"c-1\",\"ownerReferences\":[{\"apiVersion\":\"ray.io/v1\",\"kind\":\"RayJob\",\"name\":\"tune\",\"uid\":\"j-1\"}]},\"spec\":{\"workers\":[1]}}]}",
                "");

        assertThat(explained("rayjob/tune").out()).contains("Pod tune-head");
    }

    @Test
    void ofAWorkloadWithManyPodsTwentyAreExplained() {
        hasADeployment(
                IntStream.range(10, 32)
                        .mapToObj(i ->
                                owned("v1, kind: Pod", "p-" + i, "p" + i, "apps/v1 Deployment d-1"))
                        .toArray(String[]::new));
        api.has(EVENTS);

        assertThat(explained("deployment/serve").out()).contains("Pod p-29").doesNotContain("p-30");
        assertThat(explained("deployment/serve").err()).isEqualTo("It has 2 more pods\n");
    }

    /** As our own quotes, of which none is kept. */
    @Test
    void whatTakesQuestionsAloneIsNoKindOfObjects() {
        hasARayJob();
        api.passesOn("/apis", 200, groups("asked.example.com/v1", "ray.io/v1"), "");
        api.passesOn(
                "/apis/asked.example.com/v1",
                200,
                "{\"resources\":[{\"name\":\"rayjobs\",\"kind\":\"RayJob\",\"namespaced\":true,\"verbs\":[\"create\"]}]}",
                "");
        api.has(
                PODS,
                owned("v1, kind: Pod", "tune-head", "p-1", "ray.io/v1 RayCluster c-1"),
                owned("v1, kind: Pod", "other", "p-2", "asked.example.com/v1 RayJob j-2"));

        assertThat(explained("rayjob/tune"))
                .isEqualTo(new Answer("Pod tune-head\n%s\n".formatted(SUMMARY), "", 0));
        assertThat(api.requests)
                .noneMatch(it -> it.startsWith("/apis/asked.example.com/v1/namespaces"));
    }

    @Test
    void theRefusalIsFoundWhereverItWasWrittenOnTheWay() {
        hasARayJob();
        api.has(PODS);
        api.has(
                EVENTS,
                refusal("a", "X, uid: c-9", "2026-11-27T07:50:00Z", "of another"),
                refusal("b", "X, uid: c-1", "2026-11-27T07:30:00Z", "no share")
                        .replace("apps/v1, kind: X", "ray.io/v1, kind: RayCluster")
                        .replace("FailedCreate", "FailedToCreateHeadPod"));

        assertThat(explained("rayjob/tune").err())
                .isEqualTo("error: Its last pod was refused at 2026-11-27T07:30:00Z: no share\n");
    }

    @Test
    void whoMayNotListWhatIsBetweenIsToldThatPodsMayBeMissing() {
        hasARayJob();
        api.refuse(RAY + "rayclusters", 403);

        assertThat(explained("rayjob/tune").err())
                .isEqualTo(
                        """
                        You cannot list rayclusters here, so pods that belong to it by one of those are not known to be its own
                        error: It has no pods, and no Event says that one was refused
                        """);
    }

    @Test
    void whatIsNotThereIsSaid() {
        hasADeployment();
        api.passesOn("/apis", 200, groups("apps/v1"), "");

        assertThat(explained("node/n1").err())
                .endsWith(
                        " knows no kind node in namespaces that can be read; kubectl api-resources --namespaced --verbs=get,list lists all\n");
        assertThat(explained("deployment/none").err())
                .isEqualTo("error: There is no deployment none in team-a\n");
        assertThat(explained("pod train").err()).contains("There is no pod train in team-a");
        assertThat(explained("pod/train other").err())
                .isEqualTo("error: Name one object, as TYPE/NAME or TYPE NAME\n");
        assertThat(explained("deployment one two").code()).isNotZero();
    }

    @ParameterizedTest
    @CsvSource({
        "Reclaim, 2026-11-27T07:58:00Z, 'The budget team-a is used up and reclaims: from 2026-11-27T08:03:00Z on, 5m after its start, the pod may be evicted'",
        "Refuse, 2026-11-27T07:00:00Z, 'The budget team-a is used up and refuses: at any moment the pod may be evicted'"
    })
    void aRunningPodThatReclaimMayTakeIsToldWhenAndForWhom(String rule, String began, String said) {
        api.has(FakeApiServer.BUDGETS, used(rule));
        api.has(PODS, running(began, ""));

        assertThat(shell.run("explain", "runs").err())
                .isEqualTo(
                        said
                                + " for one of a budget with time left that waits and would then fit\n");
    }

    /** It gives way to whoever is in budget; those that ran before keep running. */
    @Test
    void whereABudgetOnlyLowersWhoWasLoweredMayGo() {
        api.has(FakeApiServer.BUDGETS, used("LowerPriority"));
        api.has(PODS, lowered("", ""));
        assertThat(shell.run("explain", "runs").err())
                .contains(
                        "The budget team-a is used up and lowers the priority: at any moment the pod may be evicted for one");

        api.has(PODS, running("2026-11-27T07:00:00Z", ""));
        assertThat(shell.run("explain", "runs").err()).isEmpty();
    }

    @Test
    void aRunningPodThatNobodyMayTakeIsToldNothing() {
        api.has(FakeApiServer.BUDGETS, used("Observe"));
        api.has(PODS, running("2026-11-27T07:00:00Z", ""));
        assertThat(shell.run("explain", "runs").err()).isEmpty();

        api.has(FakeApiServer.BUDGETS, used("Reclaim"));
        api.has(
                PODS,
                running(
                        "2026-11-27T07:00:00Z",
                        ", annotations: {gpusharing.io/do-not-reclaim: 'true'}"));
        assertThat(shell.run("explain", "runs").err()).isEmpty();
    }

    private static String used(String rule) {
        return "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team-a, creationTimestamp: '2026-11-01T00:00:00Z'}, spec: {namespaces: [team-a], gpuMinutes: '0', onExhausted: %s}}"
                .formatted(rule);
    }

    private static String running(String began, String metadata) {
        return "{apiVersion: v1, kind: Pod, metadata: {name: runs%s}, spec: {nodeName: n1, containers: [{name: cuda}]}, status: {phase: Running, startTime: '%s'}}"
                .formatted(metadata, began);
    }

    @Test
    void whoAsksForAWholeGpuOfNvidiasIsToldWhatOurNodesOffer() throws IOException {
        String asks =
                "spec: {containers: [{name: cuda, resources: {limits: {nvidia.com/gpu: 2}}}]}";
        String said =
                "nvidia.com/gpu is what NVIDIA's device plugin hands out; for GPUs of node-a write tencent.com/vcuda-core: 200 in cuda\n";
        api.has(PODS, "{apiVersion: v1, kind: Pod, metadata: {name: whole}, %s}".formatted(asks));
        api.passesOn(
                DRY_RUN,
                201,
                ADMITTED.replace("tencent.com/vcuda-core", "nvidia.com/gpu")
                        .replace("\"50\"", "\"2\""),
                "");
        assertThat(shell.run("explain", "whole").err()).as("no node of ours").isEmpty();

        api.has(
                FakeApiServer.GPUNODES,
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuNode, metadata: {name: node-a}, status: {resources: [tencent.com/vcuda-core, tencent.com/vcuda-memory]}}");

        assertThat(shell.run("explain", "whole").err()).isEqualTo(said);
        assertThat(explain("kind: Pod\n" + asks).err()).isEqualTo(said);
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
    void thePodOfAManifestIsJudgedAsTheApiServerAdmitsIt() throws IOException {
        assertThat(explainHalf("50")).isEqualTo(new Answer(SUMMARY + "\n", "", 0));

        assertThat(api.lastBody(PODS))
                .contains(
                        "\"kind\":\"Pod\"",
                        "\"generateName\":\"half-\"",
                        "\"app\":\"training\"",
                        "\"tencent.com/vcuda-core\":50")
                .doesNotContain("\"name\":\"half\"");
        assertThat(api.lastBody(EXPLANATIONS))
                .contains(
                        "\"newPod\":{",
                        "\"name\":\"half\"",
                        "\"priority\":-100",
                        "\"gpusharing.io/budget\":\"team-a\"")
                .as("only what decides about its place is sent")
                .doesNotContain("secret", "managedFields", "serviceAccountName", "xxx");
    }

    @Test
    void whatAdmissionWarnsOfIsSaid() throws IOException {
        api.warns(DRY_RUN, "299 - \"unknown \\\"field\\\"\", 299 - \"a second\"");

        assertThat(explainHalf("50"))
                .isEqualTo(
                        new Answer(
                                SUMMARY + "\n",
                                "Warning: unknown \"field\"\nWarning: a second\n",
                                0));
    }

    @ParameterizedTest
    @CsvSource({
        "422, 'admission webhook pods.gpusharing.io denied the request: 150 is no share; use 1..99'",
        "403, 'pods half-x is forbidden: exceeded quota: gpus'",
        "400, 'strict decoding error: unknown field spec.resuorces'",
        "404, 'namespaces team-a not found'"
    })
    void whatAdmissionRefusesIsTheAnswer(int code, String message) throws IOException {
        refuses(code, message);
        mayCreatePods(true);

        assertThat(explainHalf("150")).isEqualTo(new Answer("", "error: " + message + "\n", 1));
        assertThat(api.requests).noneMatch(it -> it.startsWith(EXPLANATIONS));
    }

    @Test
    void whoMayNotCreatePodsIsToldThatDefaultsAreNotTheServers() throws IOException {
        api.passesOn(DRY_RUN, 403, NO_ROLE, "");
        mayCreatePods(false);

        Answer answer = explainHalf("50");

        assertThat(answer.out()).isEqualTo(SUMMARY + "\n");
        assertThat(answer.err())
                .startsWith("You may not create pods in team-a, so this is about the pod as it is")
                .contains("defaults, quotas and admission are not the API server's");
        assertThat(answer.code()).isZero();
        assertThat(api.lastBody(EXPLANATIONS))
                .contains("\"name\":\"half\"", "\"tencent.com/vcuda-core\":50");
    }

    /** Who may not even ask what they may. */
    @ParameterizedTest
    @CsvSource({"true, 0", "false, 1"})
    void withoutAReviewTheWordsOfTheApiServerTell(boolean isRole, int code) throws IOException {
        if (isRole) {
            api.passesOn(DRY_RUN, 403, NO_ROLE, "");
        } else {
            refuses(403, "exceeded quota");
        }
        api.passesOn(REVIEWS, 403, "", "");

        assertThat(explainHalf("50").code()).isEqualTo(code);
    }

    @Test
    void ofManyObjectsEachIsExplainedAndARefusedOneStopsNoOther() throws IOException {
        api.passesOn(
                DRY_RUN.replace("team-a", "team-b"), 422, "{\"message\":\"150 is no share\"}", "");
        String file =
                half("first", "50")
                        + "---\n# nothing\n---\n"
                        + half("second", "150").replace("{name:", "{namespace: team-b, name:")
                        + """
                        ---
                        apiVersion: v1
                        kind: List
                        items:
                        - {apiVersion: v1, kind: Service, metadata: {name: web}}
                        - {apiVersion: v1, kind: Pod, metadata: {generateName: third-}, spec: {containers: [{name: c}]}}
                        """;

        assertThat(explain(file))
                .isEqualTo(
                        new Answer(
                                "Job first\n%s\nPod third-\n%s\n".formatted(SUMMARY, SUMMARY),
                                "Service web makes no pods\nerror: Job second: 150 is no share\nerror: 1 of 3 pods have no answer\n",
                                1));
        assertThat(explain(file, "-o", "json").out()).startsWith("[").contains("}, {");
        assertThat(explain(half("first", "50") + "---\n", "-o", "json").out()).startsWith("{");
    }

    @Test
    void ofAnOperatorsObjectWhatLooksLikeATemplateIsExplained() throws IOException {
        Answer answer =
                explain(
                        """
                        kind: PyTorchJob
                        metadata: {name: bert}
                        spec:
                          pytorchReplicaSpecs:
                            Master: {template: {spec: {containers: [{name: c}]}}}
                            Worker: {replicas: 4, template: {spec: {containers: [{name: c}]}}}
                        """);

        assertThat(answer.out())
                .contains(
                        "PyTorchJob bert spec.pytorchReplicaSpecs.Master.template\n",
                        "PyTorchJob bert spec.pytorchReplicaSpecs.Worker.template\n");
        assertThat(answer.code()).isZero();
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
    void withoutTheTimekeeperAnAdmittedPodIsLegal() throws IOException {
        api.passesOn(EXPLANATIONS, 503, "", "");

        assertThat(explainHalf("50").out())
                .isEqualTo(
                        "It is legal, and asks for cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=16\n");
    }

    @Test
    void withoutBothAManifestIsJudgedByTheRules() throws IOException {
        api.passesOn(EXPLANATIONS, 503, "", "");
        api.passesOn(DRY_RUN, 403, NO_ROLE, "");
        mayCreatePods(false);

        assertThat(explainHalf("50").out())
                .isEqualTo(
                        "It is legal, and asks for cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=16\n");
        Answer illegal = explainHalf("150");
        assertThat(illegal.out()).isEmpty();
        assertThat(illegal.err())
                .contains("tencent.com/vcuda-core", "150", "error: ", "spec.template.");
        assertThat(illegal.code()).isOne();
        assertThat(explain("kind: Job\nspec: {template: {spec: {containers: null}}}").err())
                .contains("spec.template.spec.containers is empty");
        assertThat(explain("kind: Job\nspec: {template: {spec: {containers: 7}}}").err())
                .contains("error: spec.template.spec cannot be read");
    }

    @Test
    void aManifestIsAskedAboutWhereItSays() throws IOException {
        String elsewhere = "kind: Pod\nmetadata: {namespace: team-b}\n";
        api.passesOn(DRY_RUN.replace("team-a", "team-b"), 201, ADMITTED, "");

        explain(elsewhere);
        assertThat(api.requests.getLast()).contains("/namespaces/team-b/");
        assertThat(explain(elsewhere, "-n", "team-c").err())
                .isEqualTo(
                        "error: metadata.namespace is team-b, and -n is team-c; leave out one of them\n");
        explain("kind: Pod", "-n", "team-c");
        assertThat(api.requests.getLast()).contains("/namespaces/team-c/");
    }

    @ParameterizedTest
    @CsvSource({
        "'a: [', document 1 is neither JSON nor YAML",
        "'', there is no object in it",
        "'# nothing', there is no object in it",
        "'just words', document 1 is no object",
        "'a: 1\n---\nb: 2', document 1: kind is not set; use Pod",
        "'kind: Pod\n---\n- 1', document 2 is no object",
        "'kind: Pod\n---\na: {b', document 2 is neither JSON nor YAML",
        "'{kind: List, items: [{kind: Pod}, 7]}', 'document 1, item 2 is no object'",
        "'kind: Secret', 'document 1: kind is Secret; use Pod, or CronJob'",
        "'kind: Pod\nspec: &a {a: *a}', document 1 is"
    })
    void aFileThatIsNoManifestIsSaid(String text, String problem) throws IOException {
        Answer answer = explain(text);

        assertThat(answer.err())
                .startsWith("error: " + folder.resolve("jobs.yaml"))
                .contains(problem);
        assertThat(answer.code()).isOne();
        assertThat(api.requests).isEmpty();
    }

    /** Who reads them writes them out: 800 bytes would become 3 GB. */
    @Test
    void aliasesThatStandForMoreThanMemoryHoldsAreRefused() throws IOException {
        var doubled = new StringBuilder("kind: Pod\na0: &a0 [" + "0, ".repeat(100) + "0]\n");
        for (int i = 1; i < 24; i++) {
            doubled.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
        }

        assertThat(explain(doubled.toString()).err()).contains("document 1 is neither", "aliases");
        assertThat(explain("---\nkind: Pod\nspec: &a {b: {}}\nstatus: *a\n".repeat(12)).code())
                .as("each document has aliases of its own")
                .isZero();
    }

    @Test
    void jsonIsRead() throws IOException {
        assertThat(explain("{\n\t\"kind\": \"Pod\", \"spec\": {}\n}").code()).isZero();
    }

    @Test
    void whatIsToBeExplainedIsNamed() {
        assertThat(shell.run("explain", "-f", folder.resolve("none").toString()).err())
                .isEqualTo("error: There is no file %s\n".formatted(folder.resolve("none")));
        assertThat(shell.run("explain", "-f", folder.toString()).err())
                .startsWith("error: Cannot read ")
                .doesNotContain("Exception");
        assertThat(shell.run("explain").code()).isEqualTo(2);
    }
}

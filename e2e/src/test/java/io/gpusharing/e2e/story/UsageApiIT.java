package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.ClientIdentities;
import io.gpusharing.e2e.cluster.Kubectl;
import io.gpusharing.e2e.cluster.Kubectl.Answer;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.NodeAgent;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.Ports;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServerIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The ledger as people ask it: by plain kubectl, with whatever login they have. */
class UsageApiIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    /** Passed on in UTF-8, which a reader of headers may take for something else. */
    private static final String EDITOR = "Zoë Äß";

    private static final String HALF =
            "{apiVersion: v1, kind: Pod, metadata: {name: would}, spec: {containers: [{name: cuda, resources: {limits: {tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 16}}}]}}";

    private static final String VALUE = "api.aggregated=true";
    private static final String PORT = "GPUSHARING_AGGREGATED_PORT";

    private static TestCluster cluster;
    private static Installation installation;
    private static int port;
    private static Path client;

    @BeforeAll
    static void start() throws IOException {
        cluster = TestCluster.start(Repository.root().resolve(".run/usage-api"));
        port = Ports.free(1).getFirst();
        installation =
                Installation.on(
                        cluster, Map.of("GPUSHARING_AGGREGATED_ENABLED", "true", PORT, "" + port));
        Chart.set(cluster, VALUE, "rbac-timekeeper.yaml");
        Chart.set(cluster, VALUE, "api-service.yaml");
        serveFromHere();
        // The timekeeper passes on to it what is asked about room.
        PlacingScheduler.installed(cluster);
        var api = new Api(cluster.client());
        Team.create(cluster, api, "research");
        Team.create(cluster, api, "sales");
        bind(api, "research", "edit", EDITOR);
        bind(api, "research", "view", "vera");
        cluster.kubectl()
                .run(
                        "create",
                        "clusterrolebinding",
                        "treasurer",
                        "--clusterrole=gpusharing-budget-admin",
                        "--user=treasurer")
                .orFail();
        cluster.kubectl().run("create", "serviceaccount", "robot", "--namespace=sales").orFail();
        cluster.kubectl()
                .run(
                        "create",
                        "rolebinding",
                        "robot",
                        "--namespace=sales",
                        "--clusterrole=edit",
                        "--serviceaccount=sales:robot")
                .orFail();
        client = identity("O=people,CN=" + EDITOR);
        pod(api, "research", "train", 50);
        pod(api, "research", "serve", 100);
        pod(api, "sales", "report", 25);
        await("the API server passes on questions, and all pods are charged")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        names(
                                                cluster.kubectl()
                                                        .run(
                                                                "get",
                                                                "podusages",
                                                                "-A",
                                                                "-o",
                                                                "name")))
                                .hasSize(3));
        watch("report");
    }

    /** The node agent of a pod of {@code sales} sees what it runs. */
    private static void watch(String name) throws IOException {
        Pod pod = cluster.client().pods().inNamespace("sales").withName(name).get();
        String node = pod.getSpec().getNodeName();
        cluster.kubectl().run("label", "node", node, "nvidia.com/gpu.present=true").orFail();
        Pod agent =
                await("the node has an agent")
                        .atMost(SOON)
                        .until(() -> NodeAgent.podOn(cluster, node), Optional::isPresent)
                        .orElseThrow();
        NodeAgent.start(
                cluster,
                installation,
                agent,
                Map.of("GPUSHARING_REPORT_PERIOD", "PT2S"),
                "view host",
                "device GPU-report",
                "process host=4711 busy=20% memory=3GiB uid=" + pod.getMetadata().getUid());
    }

    /** The API server finds the timekeeper where it runs: beside the cluster. */
    private static void serveFromHere() {
        cluster.kubectl()
                .run(
                        "delete",
                        "service",
                        "gpusharing-timekeeper",
                        "--namespace=" + Installation.NAMESPACE)
                .orFail();
        cluster.kubectl()
                .run(
                        "create",
                        "service",
                        "externalname",
                        "gpusharing-timekeeper",
                        "--external-name=localhost",
                        "--namespace=" + Installation.NAMESPACE)
                .orFail();
        passOnTo(port);
    }

    private static void passOnTo(int port) {
        cluster.kubectl()
                .run(
                        "patch",
                        "apiservice",
                        "v1alpha1.usage.gpusharing.io",
                        "--type=merge",
                        "--patch={\"spec\":{\"service\":{\"port\":%d}}}".formatted(port))
                .orFail();
    }

    private static void bind(Api api, String namespace, String role, String user) {
        api.create(
                        namespace,
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s}, roleRef: {kind: ClusterRole, name: %1$s, apiGroup: rbac.authorization.k8s.io}, subjects: [{kind: User, name: %s, apiGroup: rbac.authorization.k8s.io}]}"
                                .formatted(role, user))
                .orFail();
    }

    private static Path identity(String subject) throws IOException {
        ServerIdentity made = ClientIdentities.of(cluster, subject);
        Path folder = Files.createDirectories(cluster.dir().resolve("editor"));
        Files.writeString(folder.resolve("tls.crt"), Pem.of(made.certificate()));
        Files.writeString(folder.resolve("tls.key"), Pem.of(made.key()));
        return folder;
    }

    private static void pod(Api api, String namespace, String name, int cores) {
        api.create(
                        namespace,
                        "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: %d}}}]}}"
                                .formatted(name, cores, cores < 100 ? 15 : 0))
                .orFail();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    private static List<String> names(Answer answer) {
        return answer.orFail().lines().filter(line -> !line.isBlank()).toList();
    }

    private static Answer byCertificate(String... arguments) {
        return cluster.kubectl()
                .run(
                        Stream.concat(
                                        Stream.of(arguments),
                                        Stream.of(
                                                "--client-certificate=" + client.resolve("tls.crt"),
                                                "--client-key=" + client.resolve("tls.key")))
                                .toArray(String[]::new));
    }

    @Test
    void anAdministratorSeesAll() {
        assertThat(names(cluster.kubectl().run("get", "podusages", "-A", "-o", "name")))
                .containsExactly(
                        "podusage.usage.gpusharing.io/serve",
                        "podusage.usage.gpusharing.io/train",
                        "podusage.usage.gpusharing.io/report");
        assertThat(names(cluster.kubectl().run("get", "budgetusages", "-o", "name")))
                .containsExactly(
                        "budgetusage.usage.gpusharing.io/research",
                        "budgetusage.usage.gpusharing.io/sales");
    }

    @Test
    void whoMayEditANamespaceSeesItByACertificate() {
        assertThat(names(byCertificate("get", "podusages", "-n", "research", "-o", "name")))
                .containsExactly(
                        "podusage.usage.gpusharing.io/serve", "podusage.usage.gpusharing.io/train");
        assertThat(byCertificate("get", "podusages", "-n", "sales").text())
                .contains("User \"%s\" cannot list resource \"podusages\"".formatted(EDITOR));
        assertThat(byCertificate("get", "podusages", "-A").refused()).isTrue();
        assertThat(byCertificate("get", "budgetusages").refused()).isTrue();
    }

    @Test
    void aProgramSeesItsNamespaceByAToken() {
        String token =
                cluster.kubectl().run("create", "token", "robot", "--namespace=sales").orFail();
        String server = cluster.client().getConfiguration().getMasterUrl();
        Answer answer =
                cluster.kubectl()
                        .run(
                                "get",
                                "--kubeconfig=/dev/null",
                                "--server=" + server,
                                "--certificate-authority=" + cluster.authority().resolve("ca.crt"),
                                "--token=" + token,
                                "podusages",
                                "-n",
                                "sales",
                                "-o",
                                "name");

        assertThat(names(answer)).containsExactly("podusage.usage.gpusharing.io/report");
    }

    @Test
    void whoMayViewSeesTheSameAndAStrangerNothing() {
        assertThat(
                        names(
                                cluster.kubectl()
                                        .as("vera", "system:authenticated")
                                        .run("get", "podusages", "-n", "research", "-o", "name")))
                .hasSize(2);
        Answer stranger =
                cluster.kubectl()
                        .as("stranger", "system:authenticated")
                        .run("get", "podusages", "-n", "research");
        assertThat(stranger.refused()).isTrue();
        assertThat(stranger.text()).contains("User \"stranger\" cannot list resource");
    }

    @Test
    void whatAPodRunsIsShownToItsNamespaceAlone() {
        List<String> columns =
                List.of("get", "podprocesses", "-o", "wide", "--no-headers", "-n", "sales");
        await("its agent has watched it for a while")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(cluster.kubectl().run(columns.toArray(String[]::new)).text())
                                .matches(
                                        "report +0\\.25 +1 +3072 +20% +\\d+s +\\S+ +python \\(x\\) y\\s*"));
        assertThat(
                        names(
                                cluster.kubectl()
                                        .as("vera", "system:authenticated")
                                        .run(
                                                "get",
                                                "podprocesses",
                                                "-n",
                                                "research",
                                                "-o",
                                                "name")))
                .hasSize(2);
        Answer stranger =
                cluster.kubectl()
                        .as("vera", "system:authenticated")
                        .run(columns.toArray(String[]::new));
        assertThat(stranger.refused()).isTrue();
    }

    @Test
    void theTableReadsWell() {
        List<String> lines =
                names(cluster.kubectl().run("get", "podusages", "-n", "research", "-o", "wide"));

        assertThat(lines.getFirst().split("\\s+"))
                .containsExactly(
                        "NAME",
                        "GPUS",
                        "HELD",
                        "CHARGED",
                        "BUSY",
                        "BUDGET",
                        "NODE",
                        "MEASURED",
                        "BASIS",
                        "SINCE");
        assertThat(lines.get(1)).startsWith("serve   1 ").contains("research");
        assertThat(lines.get(2)).matches("train\\s+0\\.5\\s+\\d+s\\s+\\d\\.\\d+\\s+<unknown>.*");
        assertThat(
                        cluster.kubectl()
                                .run(
                                        "get",
                                        "podusages",
                                        "-n",
                                        "research",
                                        "--field-selector=metadata.name=train",
                                        "-o",
                                        "jsonpath={.items[*].status.gpus}")
                                .orFail())
                .isEqualTo("0.5");
    }

    @Test
    void kubectlFindsAndExplainsIt() {
        assertThat(
                        cluster.kubectl()
                                .run("api-resources", "--api-group=usage.gpusharing.io")
                                .orFail())
                .contains("podusages", "budgetusages", "PodUsage");
        assertThat(cluster.kubectl().run("explain", "podusages.status.measured").orFail())
                .contains("What it was measured to do", "busyPercent");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    {pod: train}                             | \"state\": \"Bound\"
                    {newPod: %s}                             | \"state\": \"New\"
                    {pod: nobody}                            | There is no pod nobody in research
                    {pod: train, newPod: {}}                 | spec names a pod, or has a newPod
                    {pods: train}                            | There is no field pods; the fields are
                    {newPod: {kind: Secret}}                 | kind is Secret; use a Pod
                    """)
    void whoMayEditANamespaceAsksAboutItsPodsAndNewOnes(String spec, String answer) {
        assertThat(explained(EDITOR, "research", spec.formatted(HALF)).text()).contains(answer);
    }

    /** With all that defaults and admission add to it. */
    @Test
    void whatTheApiServerAdmitsByADryRunIsExplained() {
        String admitted =
                cluster.kubectl()
                        .as(EDITOR, "system:authenticated")
                        .pipe(
                                HALF.replace("name: cuda,", "name: cuda, image: cuda,"),
                                "create",
                                "--dry-run=server",
                                "--validate=false",
                                "--namespace=research",
                                "-o",
                                "json",
                                "-f",
                                "-")
                        .orFail();

        assertThat(admitted).contains("gpusharing.io/metered");
        // Warnings come first.
        String pod = admitted.substring(admitted.indexOf('{'));
        assertThat(explained(EDITOR, "research", "{newPod: %s}".formatted(pod)).text())
                .contains("\"state\": \"New\"");
    }

    @Test
    void whoMayOnlyViewOrElsewhereIsExplainedNothing() {
        for (Answer refused :
                List.of(
                        explained("vera", "research", "{pod: train}"),
                        explained(EDITOR, "sales", "{pod: report}"))) {
            assertThat(refused.text()).contains("cannot create resource \"explanations\"");
        }
    }

    /**
     * Of an operator's objects, and of what there is between, all that is known here is who owns
     * whom.
     */
    @Test
    void ofACustomResourceThePodsThatItOwnsAreExplained() {
        var api = new Api(cluster.client());
        api.create(
                        "",
                        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: trials.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Trial, plural: trials, singular: trial}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}")
                .orFail();
        await("objects of the kind are taken")
                .atMost(SOON)
                .until(() ->
                        api.get(Api.collection("research", "example.com/v1", "Trial")).accepted());
        String tune = trial(api, "tune", "");
        String part = trial(api, "tune-1", ownedBy("tune", tune));
        api.merge(
                        Api.pod("research", "serve"),
                        "{metadata: {%s}}".formatted(ownedBy("tune-1", part)))
                .orFail();

        assertThat(
                        cluster.kubectl()
                                .gpusharing("explain", "trial/tune", "--namespace=research")
                                .orFail())
                .startsWith("Pod serve\nIt is bound to ")
                .doesNotContain("train");
        assertThat(
                        cluster.kubectl()
                                .gpusharing("explain", "quote/any", "--namespace=research")
                                .text())
                .as("what takes questions alone is no object")
                .contains("knows no kind quote");
    }

    /** Its UID. */
    private static String trial(Api api, String name, String metadata) {
        return api.create(
                        "research",
                        "{apiVersion: example.com/v1, kind: Trial, metadata: {name: %s, %s}, spec: {steps: 3}}"
                                .formatted(name, metadata))
                .orFail()
                .at("/metadata/uid")
                .asText();
    }

    private static String ownedBy(String trial, String uid) {
        return "ownerReferences: [{apiVersion: example.com/v1, kind: Trial, name: %s, uid: %s}]"
                .formatted(trial, uid);
    }

    private static Answer explained(String user, String namespace, String spec) {
        return created(user, "Explanation", spec, "--namespace=" + namespace);
    }

    private static Answer created(String user, String kind, String spec, String... where) {
        var words =
                new ArrayList<>(
                        List.of(
                                "create",
                                // Else kubectl wants to list all custom resource definitions first.
                                "--validate=false",
                                "-o",
                                "json",
                                "-f",
                                "-"));
        words.addAll(List.of(where));
        return cluster.kubectl()
                .as(user, "system:authenticated")
                .pipe(
                        "{apiVersion: usage.gpusharing.io/v1alpha1, kind: %s, metadata: {name: asked}, spec: %s}"
                                .formatted(kind, spec),
                        words.toArray(String[]::new));
    }

    @Test
    void whoMayEditANamespaceIsToldWhatAJobCostsAndWhetherTheBudgetLasts() {
        String job = "{newPod: %s, pods: 4, atOnce: 2, for: 3h}".formatted(HALF);

        assertThat(created(EDITOR, "Quote", job, "--namespace=research").orFail())
                .contains(
                        "4 pods, 2 at once, are charged as 1 GPU: 60.000 GPU-minutes an hour, 360.000 in all. The budget research has ",
                        " left, and lasts: with what its pods hold now ");
        assertThat(created(EDITOR, "Quote", job, "--namespace=sales").text())
                .contains("cannot create resource \"quotes\"");
    }

    /** What a running pod cost is posted by the hour; of one that has ended, at once. */
    @Test
    void whoMayAdministerBudgetsCorrectsWhatAPodWasCharged() {
        Held brief = Held.endedAs("brief");

        corrected("treasurer", "node-7", brief.written("research")).orFail();
        corrected("treasurer", "node-8", brief.written("sales")).orFail();

        assertThat(outcome("node-7"))
                .contains("\"gpusharing.io/author\": \"treasurer\"", "\"rate\": -250000");
        assertThat(outcome("node-8"))
                .contains("BudgetPaidNothing", "Budget sales was charged nothing for pod");
        assertThat(asked(cluster.kubectl(), "research", "statement").orFail())
                .contains("the node was broken");
        assertThat(corrected(EDITOR, "node-9", brief.written("research")).text())
                .contains("cannot create resource \"gpucorrections\"");
        assertThat(
                        cluster.kubectl()
                                .as(EDITOR, "system:authenticated")
                                .run("get", "gpucorrections")
                                .text())
                .as("they name pods of others")
                .contains("cannot list resource \"gpucorrections\"");
    }

    private static Answer corrected(String user, String name, String spec) {
        return cluster.kubectl()
                .as(user, "system:authenticated")
                .pipe(
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuCorrection, metadata: {name: %s}, spec: %s}"
                                .formatted(name, spec),
                        "create",
                        "--validate=false",
                        "-f",
                        "-");
    }

    /** Once it is either written or refused. */
    private static String outcome(String name) {
        return await("it is done")
                .atMost(SOON)
                .until(
                        () ->
                                cluster.kubectl()
                                        .run("get", "gpucorrection", name, "-o", "json")
                                        .text(),
                        text -> text.contains("\"written\"") || text.contains("\"refused\""));
    }

    /** A pod of {@code research}, as the ledger has it. */
    private record Held(String uid, Instant since) {

        static Held by(String name) {
            JsonNode usage =
                    new JsonMapper()
                            .readTree(
                                    cluster.kubectl()
                                            .run(
                                                    "get",
                                                    "podusage",
                                                    name,
                                                    "--namespace=research",
                                                    "-o",
                                                    "json")
                                            .orFail());
            return new Held(
                    usage.at("/metadata/uid").asString(),
                    Instant.parse(usage.at("/status/since").asString()));
        }

        /** One that has cost something, and holds nothing any more. */
        static Held endedAs(String name) {
            pod(new Api(cluster.client()), "research", name, 25);
            await("it is charged")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(names()).contains(name));
            Held held = by(name);
            await("it has cost something")
                    .atMost(SOON)
                    .until(() -> Instant.now().isAfter(held.since().plusSeconds(3)));
            cluster.kubectl()
                    .run("delete", "pod", name, "--namespace=research", "--force")
                    .orFail();
            await("it holds nothing any more")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(names()).doesNotContain(name));
            return held;
        }

        static String names() {
            return cluster.kubectl()
                    .run("get", "podusages", "--namespace=research", "-o", "name")
                    .text();
        }

        /** The spec of a correction of its first second, on the account of a budget. */
        String written(String budget) {
            return "{budget: %s, pod: {uid: %s}, from: '%s', to: '%s', rate: 0, reason: the node was broken}"
                    .formatted(budget, uid, since, since.plusSeconds(1));
        }
    }

    @Test
    void administratorsSeeWhetherTheLedgerIsSound() {
        // It is verified first when a replica has led for five minutes.
        assertThat(cluster.kubectl().run("get", "verifications", "latest").text())
                .containsAnyOf("The ledger was not verified yet", "SOUND");
        assertThat(
                        cluster.kubectl()
                                .as(EDITOR, "system:authenticated")
                                .run("get", "verifications", "latest")
                                .text())
                .contains("cannot get resource \"verifications\"");
    }

    @Test
    void whoMayAskOfOneBudgetSeesWhereItsTimeWentAndNamesOfPodsOnlyWhereTheyMayGetThem() {
        cluster.kubectl()
                .run(
                        "create",
                        "clusterrole",
                        "lead",
                        "--verb=get",
                        "--resource=budgetusages.usage.gpusharing.io/statement,budgetusages.usage.gpusharing.io/explain,budgetusages.usage.gpusharing.io/waste,budgetusages.usage.gpusharing.io/evictions",
                        "--resource-name=research")
                .orFail();
        cluster.kubectl()
                .run("create", "clusterrolebinding", "lead", "--clusterrole=lead", "--user=lead")
                .orFail();
        Kubectl lead = cluster.kubectl().as("lead", "system:authenticated");

        for (String what : List.of("statement", "explain", "waste")) {
            await("there is something to say")
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(asked(cluster.kubectl(), "research", what).orFail())
                                    .contains("train"));
            assertThat(asked(lead, "research", what).orFail())
                    .as(what)
                    .contains("\"research\"")
                    .doesNotContain("train")
                    .doesNotContain("serve");
            assertThat(asked(lead, "sales", what).text())
                    .contains("cannot get resource \"budgetusages/" + what);
        }
        assertThat(asked(lead, "research", "evictions").orFail()).isEqualTo("[]");
        assertThat(asked(cluster.kubectl(), "nobodys", "explain").text())
                .contains("There is no GpuBudget named nobodys");
    }

    @Test
    void theCommandLineGetsAStatementAsTheLedgersOwnFile() {
        await("there is something to say")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        names(
                                                cluster.kubectl()
                                                        .gpusharing(
                                                                "statement",
                                                                "research",
                                                                "-o",
                                                                "csv")))
                                .satisfies(rows -> {
                                    assertThat(rows.getFirst())
                                            .startsWith("budget,kind,from,to,namespace,podName,");
                                    assertThat(rows.get(1)).startsWith("research,Opening,");
                                    assertThat(rows)
                                            .anyMatch(it -> it.contains(",research,train,"));
                                    assertThat(rows.getLast()).startsWith("research,Closing,");
                                }));
    }

    private static Answer asked(Kubectl user, String budget, String what) {
        return user.run(
                "get",
                "--raw=/apis/usage.gpusharing.io/v1alpha1/budgetusages/%s/%s"
                        .formatted(budget, what));
    }

    @Test
    void whileTheTimekeeperIsAwayOnlyThatFailsAndNamespacesThatAreDeletedWait() {
        cluster.createNamespace("leaving");
        installation.timekeeper().program().kill();

        await("it is told that nobody answers")
                .atMost(SOON)
                .untilAsserted(() -> {
                    Answer answer = cluster.kubectl().run("get", "podusages", "-A");
                    assertThat(answer.refused()).isTrue();
                });
        assertThat(cluster.kubectl().run("get", "pods", "-A").orFail()).contains("train");
        assertThat(cluster.kubectl().run("get", "gpubudgets").orFail()).contains("research");
        // Until then it deletes namespaces by what it knew before.
        await("the API server has noticed")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        cluster.kubectl()
                                                .run(
                                                        "api-resources",
                                                        "--api-group=usage.gpusharing.io")
                                                .text())
                                .doesNotContain("podusages"));
        cluster.kubectl().run("delete", "namespace", "leaving", "--wait=false").orFail();
        await("it is said why it waits")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        cluster.kubectl()
                                                .run("get", "namespace", "leaving", "-o", "yaml")
                                                .orFail())
                                .contains("usage.gpusharing.io/v1alpha1"));

        installation.timekeeper().restart();
        installation.timekeeper().awaitReady();
        await("it is back by itself")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        names(
                                                cluster.kubectl()
                                                        .run(
                                                                "get",
                                                                "podusages",
                                                                "-A",
                                                                "-o",
                                                                "name")))
                                .hasSize(3));
        await("it is deleted by itself")
                .atMost(Duration.ofMinutes(3))
                .until(() -> cluster.kubectl().run("get", "namespace", "leaving").refused());
    }
}

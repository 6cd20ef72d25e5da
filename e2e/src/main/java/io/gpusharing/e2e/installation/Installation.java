package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/** GPUSharing on a test cluster whose nodes are simulated: its services are processes beside it. */
public final class Installation implements InstalledServices {

    /** Where the chart puts our own objects. */
    public static final String NAMESPACE = "gpusharing-system";

    /** Properties with which a killed service's lease is over in 6 seconds instead of 15. */
    public static final Map<String, String> SHORT_LEASE =
            Map.of(
                    "GPUSHARING_LEADERSHIP_LEASEDURATION", "6s",
                    "GPUSHARING_LEADERSHIP_RENEWDEADLINE", "4s");

    private final TestCluster cluster;
    private final Service webhook;
    private final Service timekeeper;
    private final Database database;
    private final URI timekeeperUrl;
    private final Map<String, String> environment;
    private final Map<String, String> properties;

    private Installation(
            TestCluster cluster,
            Service webhook,
            Service timekeeper,
            Database database,
            URI timekeeperUrl,
            Map<String, String> environment,
            Map<String, String> properties) {
        this.cluster = cluster;
        this.webhook = webhook;
        this.timekeeper = timekeeper;
        this.database = database;
        this.timekeeperUrl = timekeeperUrl;
        this.environment = Map.copyOf(environment);
        this.properties = Map.copyOf(properties);
    }

    /**
     * Creates all of {@code deployment/}, starts both services and waits until a GPU pod would be
     * admitted.
     *
     * @param properties more environment for all services, over what the chart says: shorter
     *     periods for instance
     */
    public static Installation on(TestCluster cluster, Map<String, String> properties) {
        List<Integer> ports = Ports.free(5);
        URI webhookUrl = URI.create("https://127.0.0.1:" + ports.get(0));
        URI timekeeperUrl = URI.create("https://127.0.0.1:" + ports.get(1));
        // It starts while the API server takes everything in.
        var database = new Database(cluster, ports.get(4));
        Chart.create(cluster, webhookUrl);
        letTheQuestionerSeePods(cluster);

        var here = new LinkedHashMap<String, String>();
        here.put("GPUSHARING_SIDECAR_TIMEKEEPERURL", timekeeperUrl.toString());
        here.put("GPUSHARING_TLS_SUBJECTALTERNATIVENAMES", "127.0.0.1");
        here.put("GPUSHARING_EXPLANATION_URL", ExplanationsPort.url(cluster).toString());
        here.put(
                "GPUSHARING_EXPLANATION_TOKEN",
                ServiceAccountAccess.token(
                                cluster,
                                NAMESPACE,
                                "gpusharing-timekeeper",
                                "gpusharing-scheduler-explanations")
                        .toString());
        here.putAll(database.environment());
        here.putAll(properties);
        var webhook =
                Service.start(
                        cluster,
                        "webhook",
                        webhookTemplate(cluster),
                        ports.get(0),
                        ports.get(2),
                        here);
        var timekeeper =
                Service.start(
                        cluster,
                        "timekeeper",
                        timekeeperTemplate(cluster),
                        ports.get(1),
                        ports.get(3),
                        here);
        webhook.awaitReady();
        timekeeper.awaitReady();
        var installation =
                new Installation(
                        cluster, webhook, timekeeper, database, timekeeperUrl, here, properties);
        installation.awaitAdmission();
        return installation;
    }

    /** Who asks {@link TimekeeperApi} is shown the pods that it may get. */
    static void letTheQuestionerSeePods(TestCluster cluster) {
        cluster.kubectl()
                .run(
                        "create",
                        "clusterrolebinding",
                        "questioner",
                        "--clusterrole=view",
                        "--serviceaccount=default:default")
                .orFail();
    }

    /** The pod that the chart would run the webhook in. */
    static PodTemplateSpec webhookTemplate(TestCluster cluster) {
        return cluster.client()
                .apps()
                .deployments()
                .inNamespace(NAMESPACE)
                .withName("gpusharing-webhook")
                .require()
                .getSpec()
                .getTemplate();
    }

    private static PodTemplateSpec timekeeperTemplate(TestCluster cluster) {
        return cluster.client()
                .apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName("gpusharing-timekeeper")
                .require()
                .getSpec()
                .getTemplate();
    }

    /**
     * Starts another replica of the timekeeper, on the same database.
     *
     * @param properties more environment, over that of both services
     */
    public Service replica(String name, Map<String, String> properties) {
        List<Integer> ports = Ports.free(2);
        var here = new LinkedHashMap<>(environment);
        here.put("POD_NAME", name);
        here.putAll(properties);
        return Service.start(
                cluster,
                "timekeeper",
                name,
                timekeeperTemplate(cluster),
                ports.get(0),
                ports.get(1),
                here);
    }

    /**
     * Starts the scheduler as it is installed where it places no pods: it reclaims and evicts.
     * Whoever makes room by a {@link PlacingScheduler} has that already. It is ready within
     * seconds.
     */
    public Service startEvictor() {
        List<Integer> ports = Ports.free(2);
        return Service.start(
                cluster,
                "scheduler",
                "evictor",
                "extender",
                Manifests.deployment(cluster, "scheduler.mode=None", "scheduler.yaml")
                        .getSpec()
                        .getTemplate(),
                ports.get(0),
                ports.get(1),
                withoutExplanations(properties));
    }

    /** Others explain on this machine. */
    private static Map<String, String> withoutExplanations(Map<String, String> properties) {
        var all = new HashMap<>(properties);
        all.put("GPUSHARING_SCHEDULER_EXPLANATIONS_PORT", "0");
        return all;
    }

    public Service webhook() {
        return webhook;
    }

    public Service timekeeper() {
        return timekeeper;
    }

    /** The timekeeper's. */
    public Database database() {
        return database;
    }

    @Override
    public TimekeeperApi api() {
        return new TimekeeperApi(cluster, timekeeperUrl);
    }

    @Override
    public String keepGpuBusy(Pod pod) {
        InjectedSidecar.start(
                cluster,
                pod,
                "device GPU-1f2e3d4c-0000-0000-0000-000000000000",
                "process busy=30%");
        return "Its sidecar is started from the stored pod's own spec, on a fake GPU that a process"
                + " keeps busy for 30 % of the time.";
    }

    @Override
    public String howToExplore() {
        return """
          export KUBECONFIG=%s
          export PATH=%s:$PATH
          kubectl get gpubudgets
          kubectl create -n team-a -f examples/deployment.yaml   # over budget, and there is room
        Ask the timekeeper, as a service account that may see all pods here:
          %s
        Recompute the ledger from its entries:
          SPRING_DATASOURCE_URL=%s SPRING_DATASOURCE_USERNAME=postgres $(tools/jdk)/bin/java -jar %s verify
        webhook      %s/metrics
        timekeeper   %s  (health and metrics: %s/metrics)
        logs         %s
        stop it with: make demo-stop\
        """
                .formatted(
                        cluster.kubeconfig(),
                        Repository.tool("kubectl").getParent(),
                        api().curl("/api/v1/budgets/team-a/explain"),
                        database.url(),
                        Repository.jar("timekeeper"),
                        webhook.health(),
                        timekeeperUrl,
                        timekeeper.health(),
                        cluster.dir().resolve("logs"));
    }

    /**
     * Writes the next token of a service's account where the process reads it, as kubelet would.
     */
    public void renewToken(String account) {
        ServiceAccountAccess.kubeconfig(cluster, NAMESPACE, account);
    }

    /** Base URL of reports and REST, as the injected sidecars get it. */
    public URI timekeeperUrl() {
        return timekeeperUrl;
    }

    /** The API server learns of a webhook's certificate when it next reads the configuration. */
    public void awaitAdmission() {
        awaitAdmission(cluster);
    }

    static void awaitAdmission(TestCluster cluster) {
        String pod =
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: admission-probe, namespace: default}
                spec:
                  containers:
                  - name: cuda
                    image: cuda
                    resources: {limits: {tencent.com/vcuda-core: 100}}
                """;
        Awaitility.await("the API server asks the webhook")
                .pollInterval(Duration.ofMillis(200))
                .untilAsserted(() ->
                        cluster.kubectl()
                                .pipe(pod, "create", "--dry-run=server", "-f", "-")
                                .orFail());
    }
}

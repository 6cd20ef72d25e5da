package io.gpusharing.webhook.admission;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.webhook.budget.BudgetAdmission;
import io.gpusharing.webhook.cluster.ContainerLimits;
import io.gpusharing.webhook.cluster.Demands;
import io.gpusharing.webhook.cluster.PlacementProperties;
import io.gpusharing.webhook.cluster.PriorityClasses;
import io.gpusharing.webhook.cluster.PublishedBudgets;
import io.gpusharing.webhook.cluster.Quota;
import io.gpusharing.webhook.cluster.SharedGpus;
import io.gpusharing.webhook.cluster.StoppedInjection;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Reaction;
import io.gpusharing.webhook.injection.Sidecar;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.injection.SidecarProperties.Mode;
import io.gpusharing.webhook.pod.ClaimProperties;
import io.gpusharing.webhook.pod.ClaimProperties.DriverProperties;
import io.gpusharing.webhook.pod.PodAdmission;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.review.ReviewReader;
import io.gpusharing.webhook.template.PodTemplates;
import io.gpusharing.webhook.template.TemplateAdmission;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Everything between the bytes of an AdmissionReview and of its response, put together without
 * Spring.
 */
public final class Installation {

    static final Instant NOW = Instant.parse("2026-03-10T12:00:00Z");

    private static final PriorityClasses CLASSES =
            new PriorityClasses(
                    Map.of(
                            "gpu-in-budget",
                            0,
                            "gpu-over-budget",
                            -100,
                            "batch-low",
                            -1000,
                            "urgent",
                            1000),
                    Set.of("gpu-over-budget"),
                    null);

    private PublishedBudgets budgets = PublishedBudgets.NONE;
    private PriorityClasses known = CLASSES;
    private List<NodeFacts> nodes = List.of();
    private ContainerLimits limits = ContainerLimits.NONE;
    private List<Quota> quotas = List.of();
    private List<String> unread = List.of();
    private @Nullable String reportingCa = "the reporting CA";
    private @Nullable StoppedInjection stopped;
    private Set<String> unmetered = Set.of();
    private boolean budgetsAway;
    private Instant now = NOW;
    private PolicyProperties policy =
            new PolicyProperties(
                    Reaction.Refuse,
                    Reaction.Refuse,
                    Reaction.Refuse,
                    Reaction.Warn,
                    Reaction.Refuse,
                    Reaction.Refuse,
                    Reaction.Warn,
                    Reaction.Warn);
    private MpsProperties mps = MpsProperties.DISABLED;

    /** Nodes may serve MPS. */
    Installation mps(Reaction bypass) {
        this.mps = new MpsProperties(true, bypass);
        return this;
    }

    private PriorityClassProperties classes =
            new PriorityClassProperties("gpu-in-budget", "gpu-over-budget", Set.of());
    private SidecarProperties sidecar = sidecar(Mode.PerPod);
    private RequestGrammars grammars = RequestGrammars.of(List.of("vcuda"), List.of());

    private PlacementProperties placement =
            new PlacementProperties(
                    "gpusharing-scheduler",
                    List.of(),
                    List.of(),
                    List.of("*-user-scheduler"),
                    List.of());
    private SharedGpus shared = SharedGpus.NONE;

    /** A node of ours offers these resources. */
    Installation sharing(String... resources) {
        this.shared =
                new SharedGpus(
                        Arrays.stream(resources)
                                .collect(Collectors.toMap(it -> it, it -> Set.of("gpu-node-1"))),
                        Set.of("gpu-node-1"),
                        Set.of(),
                        Set.of());
        return this;
    }

    /** No node has these resources yet, and the first one will be ours. */
    Installation awaiting(String... resources) {
        this.shared = new SharedGpus(Map.of(), Set.of(), Set.of(), Set.of(resources));
        return this;
    }

    /** Pods are left to the cluster's own scheduler. */
    Installation withoutAScheduler() {
        this.placement =
                new PlacementProperties(
                        "", List.of(), List.of(), List.of("*-user-scheduler"), List.of());
        return this;
    }

    /** The cluster's own scheduler asks our extender. */
    Installation askedByTheClustersScheduler() {
        this.placement =
                new PlacementProperties(
                        "default-scheduler",
                        List.of(),
                        List.of(),
                        List.of("*-user-scheduler"),
                        List.of());
        return this;
    }

    private ClaimProperties claims = new ClaimProperties(List.of());

    /** A driver of GPUs whose device classes name these extended resources. */
    Installation gpuDriver(String... extendedResources) {
        this.claims =
                new ClaimProperties(
                        List.of(
                                new DriverProperties(
                                        "gpu.example.com", List.of(extendedResources))));
        return this;
    }

    private PodTemplates templates = new PodTemplates(List.of());

    /** Kinds of operators that make pods. */
    Installation kinds(PodTemplates.Kind... kinds) {
        this.templates = new PodTemplates(List.of(kinds));
        return this;
    }

    /** A fraction without memory gets its part of so many blocks. */
    Installation defaultMemory(long perGpu) {
        this.grammars =
                RequestGrammars.of(
                        List.of("vcuda"), new GrammarSettings(List.of(), Map.of(), perGpu, 1));
        return this;
    }

    /** The grammars that the site has switched on; vcuda alone by default. */
    Installation grammars(String... names) {
        this.grammars = RequestGrammars.of(List.of(names), List.of());
        return this;
    }

    static SidecarProperties sidecar(Mode mode) {
        return new SidecarProperties(
                mode,
                "gpusharing/sidecar:1",
                "IfNotPresent",
                List.of(),
                "https://timekeeper",
                65532,
                Map.of("cpu", "5m", "memory", "48Mi"),
                Map.of("cpu", "100m", "memory", "64Mi"),
                Map.of());
    }

    Installation sidecars(SidecarProperties properties) {
        this.sidecar = properties;
        return this;
    }

    public Installation policy(PolicyProperties properties) {
        this.policy = properties;
        return this;
    }

    Installation allowedClasses(String... allowed) {
        this.classes =
                new PriorityClassProperties("gpu-in-budget", "gpu-over-budget", Set.of(allowed));
        return this;
    }

    Installation classes(PriorityClasses found) {
        known = found;
        return this;
    }

    Installation nodes(NodeFacts... nodes) {
        this.nodes = List.of(nodes);
        return this;
    }

    /** What LimitRanges of namespace {@code team-a} demand. */
    Installation limits(ContainerLimits limits) {
        this.limits = limits;
        return this;
    }

    /** What ResourceQuotas of namespace {@code team-a} leave. */
    Installation quotas(Quota... quotas) {
        this.quotas = List.of(quotas);
        return this;
    }

    /** LimitRanges and ResourceQuotas of namespace {@code team-a} that cannot be read. */
    Installation unread(String... objects) {
        this.unread = List.of(objects);
        return this;
    }

    /** The watch of budgets is broken. */
    Installation budgetsAway() {
        budgetsAway = true;
        return this;
    }

    Installation reportingCa(@Nullable String pem) {
        reportingCa = pem;
        return this;
    }

    /** This image cannot be pulled, in these namespaces or in any. */
    Installation unpullable(String image, String... namespaces) {
        stopped = new StoppedInjection(image, Set.of(namespaces));
        return this;
    }

    /** An administrator wants no metering containers in these namespaces. */
    Installation unmetered(String... namespaces) {
        unmetered = Set.of(namespaces);
        return this;
    }

    Installation at(Instant now) {
        this.now = now;
        return this;
    }

    /** Namespace {@code team-a} has a budget of so many minutes, of which none are used. */
    public Installation budget(@Nullable String gpuMinutes, OnExhausted onExhausted) {
        return budget(spec(gpuMinutes, onExhausted), null);
    }

    /** Namespace {@code team-a} holds one GPU and has time for so many seconds more. */
    Installation budgetThatEndsIn(int seconds) {
        return budgetThatEndsIn(seconds, OnExhausted.LowerPriority);
    }

    /** The same, with what happens then. */
    Installation budgetThatEndsIn(int seconds, OnExhausted onExhausted) {
        long left = seconds * GpuShare.WHOLE;
        String asOf = NOW.toString();
        return budget(
                spec("10", onExhausted),
                JsonMapper.shared()
                        .readValue(
                                """
                                {"asOf": "%s", "remaining": %d, "rate": 1000000,
                                 "period": {"start": "2026-03-01T00:00:00Z", "end": "2026-04-01T00:00:00Z"},
                                 "credits": [{"source": "allowance", "remaining": %d,
                                           "from": "2026-03-01T00:00:00Z", "until": "2026-04-01T00:00:00Z"}]}
                                """
                                        .formatted(asOf, left, left),
                                GpuBudgetStatus.class));
    }

    private Installation budget(GpuBudgetSpec spec, @Nullable GpuBudgetStatus status) {
        budgets =
                new PublishedBudgets(
                        List.of(new PublishedBudget("a", NOW.minusSeconds(60), spec, status)),
                        Optional.empty());
        return this;
    }

    private static GpuBudgetSpec spec(@Nullable String gpuMinutes, OnExhausted onExhausted) {
        return JsonMapper.shared()
                .readValue(
                        """
                        {"namespaces": ["team-a"], "gpuMinutes": %s, "onExhausted": "%s"}
                        """
                                .formatted(
                                        gpuMinutes == null ? null : '"' + gpuMinutes + '"',
                                        onExhausted),
                        GpuBudgetSpec.class);
    }

    Installation overBudget(OnExhausted onExhausted) {
        return budget("0", onExhausted);
    }

    /** A new pod of namespace {@code team-a}, as its author writes it. */
    public Answered create(ObjectNode pod) {
        return received(Manifests.asReceived(pod));
    }

    /** A new pod, exactly as given. */
    Answered received(JsonNode pod) {
        return ask(WebhookType.Mutate, review("CREATE", "", "Pod", pod, null));
    }

    /** A workload, new or changed. */
    Answered workload(String group, JsonNode object, @Nullable JsonNode before) {
        return ask(
                WebhookType.Validate,
                review(
                        before == null ? "CREATE" : "UPDATE",
                        group,
                        object.path("kind").asString(),
                        object,
                        before));
    }

    Answered ask(WebhookType type, ObjectNode review) {
        return new Answered(
                answer(type, JsonMapper.shared().writeValueAsBytes(review)),
                review.path("request").path("object"));
    }

    byte[] answer(WebhookType type, byte[] review) {
        return admission().answer(type, review);
    }

    public Admission admission() {
        return new Admission(
                new ReviewReader(grammars::reads, claims::isClaimed),
                new PodAdmission(
                        grammars,
                        new ProviderAsk(Map.of()),
                        policy,
                        mps,
                        classes,
                        placement,
                        new Sidecar(sidecar)),
                new TemplateAdmission(grammars, policy, mps, classes, templates),
                new BudgetAdmission(Set.of("gpusharing-system", "kube-system"), "taem-a"::equals),
                () ->
                        new Surroundings(
                                budgets,
                                known,
                                nodes,
                                shared,
                                unmetered,
                                namespace ->
                                        namespace.equals("team-a")
                                                ? new Demands(limits, quotas, unread)
                                                : Demands.NONE,
                                reportingCa,
                                stopped,
                                budgetsAway,
                                now),
                (type, review, decision) -> {});
    }

    static ObjectNode review(
            String operation,
            String group,
            String kind,
            JsonNode object,
            @Nullable JsonNode oldObject) {
        ObjectNode review = JsonMapper.shared().createObjectNode();
        review.put("kind", "AdmissionReview").put("apiVersion", "admission.k8s.io/v1");
        ObjectNode request = review.putObject("request");
        request.put("uid", "7d1c4f6e-3f2b-4f43-9f1c-2f1b7a3f9a11");
        request.putObject("kind").put("group", group).put("version", "v1").put("kind", kind);
        request.put("name", object.path("metadata").path("name").asString(""));
        request.put("namespace", "team-a");
        request.put("operation", operation);
        request.putObject("userInfo").put("username", "jane").putArray("groups").add("people");
        request.set("object", object);
        request.set("oldObject", oldObject);
        request.put("dryRun", false);
        return review;
    }
}

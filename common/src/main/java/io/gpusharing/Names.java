package io.gpusharing;

/** Names of labels, annotations and objects that more than one part reads or writes. */
public final class Names {

    /** Prefix of every label and annotation of ours; on pods all of them are protected. */
    public static final String PREFIX = "gpusharing.io/";

    /** Prefix of annotations that users may write when they create a pod, and not change later. */
    public static final String REQUEST_PREFIX = "request.gpusharing.io/";

    /** Which of the GPUs where it fits a pod wants; see {@code sharing.Strategy}. */
    public static final String STRATEGY_ANNOTATION = REQUEST_PREFIX + "strategy";

    /**
     * With which pods of its namespace a pod wants to share a GPU; see {@code sharing.GpuGroup}.
     */
    public static final String SAME_GPU_ANNOTATION = REQUEST_PREFIX + "same-gpu";

    /** Whether a pod shares GPUs by MPS where nodes serve it; see {@code sharing.Sharing}. */
    public static final String MPS_ANNOTATION = REQUEST_PREFIX + "mps";

    /** Label on nodes that serve MPS, value {@code enabled}. */
    public static final String MPS_LABEL = PREFIX + "mps";

    /** Label on metered pods, value {@code true}: the timekeeper watches only such pods. */
    public static final String METERED_LABEL = PREFIX + "metered";

    /** Name of the budget that the pod's namespace drew on at admission. */
    public static final String BUDGET_ANNOTATION = PREFIX + "budget";

    /** Standing at admission: {@code InBudget}, {@code OverBudget} or {@code Unlimited}. */
    public static final String STANDING_ANNOTATION = PREFIX + "standing";

    /** Instant of the standing, RFC 3339 in UTC. */
    public static final String STANDING_AS_OF_ANNOTATION = PREFIX + "standing-as-of";

    /** The amounts that were judged; see {@link io.gpusharing.request.PodRequest#stamp}. */
    public static final String REQUEST_ANNOTATION = PREFIX + "request";

    /** Name of the container that we injected. */
    public static final String SIDECAR_ANNOTATION = PREFIX + "sidecar";

    /**
     * Label that an administrator sets to {@code false} on a namespace, or on a pod that he makes:
     * no container that meters is injected.
     */
    public static final String INJECT_LABEL = PREFIX + "inject";

    /** Who made a {@code GpuGrant} or {@code GpuCorrection}, as the API server knows them. */
    public static final String AUTHOR_ANNOTATION = PREFIX + "author";

    /** Set to {@code true} by an administrator on a pod or namespace: reclaim leaves it alone. */
    public static final String DO_NOT_RECLAIM_ANNOTATION = PREFIX + "do-not-reclaim";

    /**
     * Set to {@code true} by an administrator on a budget: reclaim leaves its pods alone; on our
     * own namespace: reclaim leaves everybody alone.
     */
    public static final String RECLAIM_PAUSED_ANNOTATION = PREFIX + "reclaim-paused";

    /** On pods: when their budget is used up, or was; RFC 3339 in UTC, in whole seconds. */
    public static final String EXHAUSTED_AT_ANNOTATION = PREFIX + "budget-exhausted-at";

    /** Name of the injected native sidecar; users may use it too, so it proves nothing. */
    public static final String SIDECAR_CONTAINER = "gpusharing-sidecar";

    /**
     * ConfigMap by which the timekeeper stops the injection of a container whose image cannot be
     * pulled: {@code injection} is {@code Off} for the {@code image} that it names, in {@code
     * namespaces}, joined by commas, or in all where none is named.
     */
    public static final String INJECTION_SWITCH = "gpusharing-injection";

    /** Before the name of a device class: every class can be asked for as an extended resource. */
    public static final String DEVICE_CLASS_RESOURCE_PREFIX = "deviceclass.resource.kubernetes.io/";

    /** Audience of the tokens that sidecars and agents report with. */
    public static final String REPORT_AUDIENCE = "gpusharing-timekeeper";

    /** Audience of the token by which the timekeeper asks the scheduler why pods wait. */
    public static final String EXPLANATIONS_AUDIENCE = "gpusharing-scheduler-explanations";

    /** As whom the timekeeper writes fields and Events. */
    public static final String TIMEKEEPER = "gpusharing-timekeeper";

    /** By which name the scheduler writes into the cluster. */
    public static final String SCHEDULER = "gpusharing-scheduler";

    /** Condition of a pod that says why it waits for a GPU, or that it has one. */
    public static final String PLACEMENT_CONDITION = PREFIX + "Placement";

    private Names() {}
}

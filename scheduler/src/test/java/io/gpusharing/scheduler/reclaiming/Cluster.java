package io.gpusharing.scheduler.reclaiming;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.placement.PodHold;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.picture.Past.Refusal;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.Reach;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Planner;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A small cluster that a test describes: two GPUs a node, 60 memory blocks each. */
public final class Cluster {

    public static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    static final String CORE = "tencent.com/vcuda-core";
    static final String MEMORY = "tencent.com/vcuda-memory";
    public static final Rules RULES =
            new Rules(
                    Duration.ofSeconds(10),
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(1),
                    10,
                    Duration.ofHours(24),
                    Duration.ofSeconds(30),
                    null,
                    false);

    private final List<Waiter> waiters = new ArrayList<>();
    private final List<NodeView> nodes = new ArrayList<>();
    private final List<Holder> gpuPods = new ArrayList<>();
    private final Map<String, BudgetAccount> budgets = new HashMap<>();
    private final Map<String, Integer> disruptions = new HashMap<>();
    private final List<PastEviction> past = new ArrayList<>();
    private final List<Refusal> refusals = new ArrayList<>();
    public Instant now = NOON;

    public Cluster node(String name, Taint... taints) {
        nodes.add(node(name, 2, List.of(taints)));
        return this;
    }

    public static NodeView node(String name, int gpus, List<Taint> taints) {
        return new NodeView(
                name,
                Map.of("kubernetes.io/hostname", name),
                taints,
                false,
                new FreeCapacity(
                        amounts(gpus * 100L, gpus * 60L, 16), new GpuLayout(gpus("", gpus))),
                null,
                List.of());
    }

    private static List<Gpu> gpus(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> new Gpu(prefix + i, 100, 60)).toList();
    }

    /**
     * A node of which our device plugin hands out GPU-0, GPU-1 and so on; the last ones may be
     * unhealthy.
     *
     * @param granted by UID; a pod that is not named is where {@link Pod#on} says
     */
    public static SharedNode shared(
            String name, int gpus, int unhealthy, Map<String, List<GpuHold>> granted) {
        return shared(name, gpus, unhealthy, granted, false);
    }

    /** The same, where it may serve MPS. */
    static SharedNode shared(
            String name,
            int gpus,
            int unhealthy,
            Map<String, List<GpuHold>> granted,
            boolean servesMps) {
        List<Gpu> all = gpus("GPU-", gpus);
        int healthy = gpus - unhealthy;
        return new SharedNode(
                name,
                all.subList(0, healthy),
                all.subList(healthy, gpus),
                granted,
                Map.of(),
                "",
                servesMps,
                Set.of());
    }

    public static NodeView node(SharedNode shared, Amounts allocatable) {
        return new NodeView(
                shared.name(),
                Map.of(),
                List.of(),
                false,
                shared.empty(allocatable),
                shared,
                List.of());
    }

    /** A node that our device plugin serves, of which kube-scheduler counts all GPUs. */
    public Cluster shares(SharedNode shared) {
        int gpus = shared.all().gpus().size();
        return replaceNode(node(shared, amounts(gpus * 100L, gpus * 60L, 16)));
    }

    public Cluster replaceNode(NodeView node) {
        nodes.removeIf(it -> it.name().equals(node.name()));
        nodes.add(node);
        return this;
    }

    public Cluster over(String namespace, long overrunMinutes) {
        return budget(namespace, overrun(overrunMinutes), OnExhausted.Reclaim, false);
    }

    public Cluster within(String namespace) {
        return budget(
                namespace,
                new Standing.InBudget(GpuTime.ofMinutes("10"), null),
                OnExhausted.Reclaim,
                false);
    }

    public Cluster budget(
            String namespace, Standing standing, OnExhausted onExhausted, boolean paused) {
        budgets.put(
                namespace,
                new BudgetAccount(
                        namespace, standing, onExhausted, Duration.ofMinutes(5), paused, null));
        return this;
    }

    /** Nobody may act on what its budget says. */
    public Cluster doubted(String namespace, String why) {
        budgets.computeIfPresent(
                namespace,
                (name, it) ->
                        new BudgetAccount(
                                name,
                                it.standing(),
                                it.onExhausted(),
                                it.minimumRun(),
                                it.paused(),
                                why));
        return this;
    }

    public static Standing overrun(long minutes) {
        return new Standing.OverBudget(GpuTime.ofMinutes(Long.toString(minutes)));
    }

    public Cluster runs(Holder gpuPod) {
        gpuPods.add(gpuPod);
        return this;
    }

    public Cluster waits(Waiter waiter) {
        waiters.add(waiter);
        return this;
    }

    public Cluster disruptionBudget(String name, int allowed) {
        disruptions.put(name, allowed);
        return this;
    }

    public Cluster before(PastEviction eviction) {
        past.add(eviction);
        return this;
    }

    /** The victim, a pod of {@link #pod}, was refused to the waiter at an instant. */
    public Cluster refused(Waiter waiter, String victim, Instant at) {
        refusals.add(new Refusal(at, waiter.pod().uid(), waiter.workload(), victim));
        return this;
    }

    public ClusterSnapshot snapshot() {
        Set<String> known = new java.util.HashSet<>();
        nodes.forEach(node -> known.add(node.name()));
        return new ClusterSnapshot(
                now, waiters, nodes, gpuPods, budgets, disruptions, past, refusals, known);
    }

    public Decision decide() {
        return decide(RULES);
    }

    public Decision decide(Rules rules) {
        return new Planner(rules).plan(snapshot(), node -> List.of()).getFirst();
    }

    /** A pod that holds a part of one GPU, for an hour already. */
    public static Pod pod(String namespace, String name) {
        return new Pod(namespace, name);
    }

    public static Amounts amounts(long cores, long memory, long cpus) {
        return new Amounts(
                Map.of(
                        CORE,
                        BigDecimal.valueOf(cores),
                        MEMORY,
                        BigDecimal.valueOf(memory),
                        "cpu",
                        BigDecimal.valueOf(cpus)));
    }

    /** A pod in the making. */
    public static final class Pod {
        private final PodRef ref;
        private long cores = 50;
        private long memory = 30;
        private long cpus = 1;
        private int priority;
        private Duration age = Duration.ofHours(1);
        private String gang;
        private boolean leaving;
        private boolean gated;
        private boolean preempts = true;
        private boolean placementKnown = true;
        private Sharing sharing = Sharing.TIME_SLICES;
        private @Nullable String exemption;
        private @Nullable String nominated;
        private @Nullable String unjudged;
        private String workload;
        private Set<String> disruptionBudgets = Set.of();
        private SchedulingConstraints constraints = SchedulingConstraints.NONE;
        private List<ContainerAsk> containers = List.of();
        private Reach reach = Reach.Everywhere;
        private boolean lowered;

        private Pod(String namespace, String name) {
            this.ref = new PodRef(namespace + "-" + name, namespace, name);
            this.gang = ref.uid();
            this.workload = ref.uid();
        }

        public Pod reach(Reach reach) {
            this.reach = reach;
            return this;
        }

        /** Its budget was used up when it was admitted. */
        public Pod lowered() {
            this.lowered = true;
            return priority(-100);
        }

        public Pod gpus(long count) {
            return share(count * 100, 0);
        }

        public Pod share(long cores, long memory) {
            this.cores = cores;
            this.memory = memory;
            return this;
        }

        public Pod cpus(long cpus) {
            this.cpus = cpus;
            return this;
        }

        public Pod priority(int priority) {
            this.priority = priority;
            return this;
        }

        public Pod age(Duration age) {
            this.age = age;
            return this;
        }

        public Pod gang(String gang) {
            this.gang = gang;
            return this;
        }

        public Pod workload(String workload) {
            this.workload = workload;
            return this;
        }

        public Pod leaving() {
            this.leaving = true;
            return this;
        }

        public Pod gated() {
            this.gated = true;
            return this;
        }

        public Pod neverPreempts() {
            this.preempts = false;
            return this;
        }

        public Pod placementUnknown() {
            this.placementKnown = false;
            return this;
        }

        /** How it shares GPUs of ours where that is served. */
        Pod sharing(Sharing how) {
            this.sharing = how;
            return this;
        }

        public Pod exempt(String why) {
            this.exemption = why;
            return this;
        }

        public Pod nominated(String node) {
            this.nominated = node;
            return this;
        }

        public Pod unjudged(String what) {
            this.unjudged = what;
            return this;
        }

        public Pod protectedBy(String... disruptionBudgets) {
            this.disruptionBudgets = Set.of(disruptionBudgets);
            return this;
        }

        public Pod constraints(SchedulingConstraints constraints) {
            this.constraints = constraints;
            return this;
        }

        /** What it asks for where our device plugin hands out GPUs, if not the same. */
        public Pod containers(ContainerAsk... containers) {
            this.containers = List.of(containers);
            return this;
        }

        private GpuAsk ask() {
            return cores >= 100
                    ? new GpuAsk((int) (cores / 100), 100, 0, true)
                    : new GpuAsk(1, cores, memory, false);
        }

        private List<ContainerAsk> containers(Set<String> on) {
            return containers.isEmpty()
                    ? List.of(new ContainerAsk("cuda", Kind.App, ask().shared(sharing), on))
                    : containers;
        }

        public Holder on(String node, int... gpus) {
            boolean whole = cores >= 100;
            List<GpuHold> holds =
                    IntStream.of(gpus)
                            .mapToObj(gpu ->
                                    new GpuHold(
                                            Integer.toString(gpu),
                                            whole ? 100 : cores,
                                            whole ? 60 : memory,
                                            whole))
                            .toList();
            return new Holder(
                    ref,
                    node,
                    NOON.minus(age),
                    priority,
                    cores * 10_000,
                    new PodHold(
                            amounts(cores, memory, cpus),
                            placementKnown ? holds : null,
                            containers(
                                    IntStream.of(placementKnown ? gpus : new int[0])
                                            .mapToObj(gpu -> "GPU-" + gpu)
                                            .collect(toSet()))),
                    gang,
                    leaving,
                    exemption,
                    disruptionBudgets,
                    leaving ? NOON.plusSeconds(30) : null,
                    Duration.ofSeconds(30),
                    lowered);
        }

        public Waiter waiting(Duration since) {
            return new Waiter(
                    ref,
                    NOON.minus(since),
                    nominated,
                    gated,
                    priority,
                    preempts,
                    new PodAsk(amounts(cores, memory, cpus), List.of(ask()), containers(Set.of())),
                    workload,
                    constraints,
                    unjudged,
                    reach);
        }
    }
}

package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.reclaiming.Cluster.amounts;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
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
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cluster that lives: teams submit pods, a scheduler packs them on GPUs and preempts by priority,
 * controllers recreate what was evicted, budgets are used up and renewed at midnight. The GPUs of
 * the second node are handed out by our device plugin, which grants them a while after the binding
 * and takes them back a while after the end.
 */
final class ToyCluster {

    static final Duration TICK = Duration.ofSeconds(10);
    private static final Duration GRACE = Duration.ofSeconds(30);
    private static final Duration LAG = Duration.ofSeconds(20);
    private static final String SHARED = "n2";
    private static final int GPUS = 2;
    private static final String DISRUPTION_BUDGET = "all/never";

    final Random random;
    final List<NodeView> nodes;
    final List<Team> teams = new ArrayList<>();
    final List<ToyPod> pods = new ArrayList<>();

    /** Those that have ended, and of which the device plugin has not yet taken back the GPUs. */
    private final Map<ToyPod, Instant> ended = new HashMap<>();

    /** As the API server stores them. */
    private final List<GpuEviction> orders = new ArrayList<>();

    Instant now = Instant.parse("2026-03-01T00:00:00Z");
    int insisted;
    private int made;

    ToyCluster(long seed) {
        random = new Random(seed);
        nodes =
                IntStream.rangeClosed(1, 2 + random.nextInt(2))
                        .mapToObj(i -> Cluster.node("n" + i, GPUS, List.of()))
                        .toList();
        OnExhausted[] kinds = OnExhausted.values();
        for (int i = 0; i < 4; i++) {
            // At least two can be reclaimed from, or nothing would ever happen.
            OnExhausted kind = i < 2 ? OnExhausted.Reclaim : kinds[random.nextInt(kinds.length)];
            teams.add(
                    new Team(
                            "team-" + i,
                            kind,
                            60_000_000L * (100 + random.nextInt(1500)),
                            Duration.ofMinutes(1 + random.nextInt(10))));
        }
    }

    void tick() {
        now = now.plus(TICK);
        if (now.toEpochMilli() % Duration.ofDays(1).toMillis() == 0) {
            teams.forEach(team -> team.used = 0);
        }
        end();
        charge();
        submit();
        schedule();
    }

    /** What reclaim sees now. */
    ClusterSnapshot snapshot() {
        Map<String, BudgetAccount> budgets = new HashMap<>();
        for (Team team : teams) {
            budgets.put(
                    team.name,
                    new BudgetAccount(
                            team.name,
                            team.standing(),
                            team.onExhausted,
                            team.minimumRun,
                            false,
                            null));
        }
        return new ClusterSnapshot(
                now,
                pods.stream().filter(pod -> pod.node == null).map(ToyPod::waiter).toList(),
                nodes.stream().map(this::described).toList(),
                pods.stream().filter(pod -> pod.node != null).map(ToyPod::gpuPod).toList(),
                budgets,
                Map.of(DISRUPTION_BUDGET, 0),
                past(),
                refusals(),
                Set.copyOf(nodes.stream().map(NodeView::name).toList()));
    }

    /** Pods that were evicted, by what the objects say. */
    List<PastEviction> past() {
        return plans().flatMap(it -> it.evictions().stream()).toList();
    }

    /** Pods that the API server did not let go, by what the objects say. */
    List<Refusal> refusals() {
        return plans().flatMap(it -> it.refusals().stream()).toList();
    }

    private Stream<ReclaimPlan> plans() {
        return orders.stream()
                .flatMap(it -> ReclaimPlan.of(EvictionPlan.of(it)).stream())
                .filter(it -> it.at().isAfter(now.minus(Duration.ofDays(2))));
    }

    /**
     * Does what the evictor does. The API server refuses those that a PodDisruptionBudget protects,
     * unless they are to be deleted then.
     */
    void carryOut(Evict plan, Instant settlesAt) {
        String name = ReclaimEvictions.name(orders.size() + 1);
        GpuEviction order = new EvictionOrder(snapshot()).of(name, plan, settlesAt);
        order.getMetadata().setUid(new UUID(1, orders.size()).toString());
        order.getMetadata().setCreationTimestamp(now.toString());
        Set<String> kept =
                plan.victims().stream()
                        .filter(it -> it.refusedSince() == null)
                        .map(it -> it.pod().uid())
                        .filter(uid ->
                                pods.stream().anyMatch(it -> it.uid.equals(uid) && it.isProtected))
                        .collect(toSet());
        if (kept.isEmpty()) {
            pods.stream()
                    .filter(pod -> plan.victimUids().contains(pod.uid))
                    .forEach(pod -> pod.leave(now));
        }
        order.setStatus(
                new Status(
                        (kept.isEmpty() ? Phase.Done : Phase.Refused).name(),
                        now.toString(),
                        plan.victimUids().stream()
                                .map(uid -> new Answer(uid, result(uid, kept).name(), null))
                                .toList(),
                        null,
                        null,
                        null));
        // What is not written in it nobody knows later.
        orders.add(Serialization.unmarshal(Serialization.asJson(order), GpuEviction.class));
    }

    private static Result result(String victim, Set<String> kept) {
        return kept.isEmpty()
                ? Result.Evicted
                : kept.contains(victim) ? Result.Refused : Result.Spared;
    }

    Team team(String name) {
        return teams.stream().filter(team -> team.name.equals(name)).findFirst().orElseThrow();
    }

    private void end() {
        var remade = new ArrayList<ToyPod>();
        for (ToyPod pod : pods) {
            if (pod.leavesAt != null && !now.isBefore(pod.leavesAt) && random.nextBoolean()) {
                remade.add(make(team(pod.team), pod.cores, pod.gang, pod.length));
            }
        }
        List<ToyPod> over = pods.stream().filter(this::isOver).toList();
        over.stream()
                .filter(pod -> SHARED.equals(pod.node))
                .forEach(pod -> ended.put(pod, now.plus(LAG)));
        ended.values().removeIf(until -> !now.isBefore(until));
        pods.removeAll(over);
        pods.addAll(remade);
    }

    private boolean isOver(ToyPod pod) {
        return (pod.leavesAt != null && !now.isBefore(pod.leavesAt))
                || (pod.node != null && !now.isBefore(pod.since.plus(pod.length)));
    }

    private NodeView described(NodeView node) {
        if (!node.name().equals(SHARED)) {
            return node;
        }
        Map<String, List<GpuHold>> granted = new HashMap<>();
        on(node).stream()
                .filter(pod -> now.isAfter(pod.since.plus(LAG)))
                .forEach(pod -> granted.put(pod.uid, pod.gpus));
        ended.keySet().forEach(pod -> granted.put(pod.uid, pod.gpus));
        List<Gpu> gpus = Objects.requireNonNull(node.empty().gpus()).gpus();
        return Cluster.node(
                new SharedNode(node.name(), gpus, List.of(), granted), node.empty().amounts());
    }

    private void charge() {
        for (ToyPod pod : pods) {
            if (pod.node != null) {
                team(pod.team).used += pod.cores * 10_000 * TICK.toSeconds();
            }
        }
    }

    private void submit() {
        long waiting = pods.stream().filter(pod -> pod.node == null).count();
        if (random.nextInt(30) > 0 || waiting > 5) {
            return;
        }
        Team team = teams.get(random.nextInt(teams.size()));
        long cores =
                random.nextInt(3) == 0
                        ? 100L * (1 + random.nextInt(GPUS))
                        : 10L + random.nextInt(80);
        Duration length = Duration.ofMinutes(5 + random.nextInt(120));
        int size = random.nextInt(6) == 0 ? 2 : 1;
        String gang = size > 1 ? "job-" + made : null;
        for (int i = 0; i < size; i++) {
            pods.add(make(team, cores, gang, length));
        }
    }

    private ToyPod make(Team team, long cores, @Nullable String gang, Duration length) {
        boolean over = team.standing() instanceof Standing.OverBudget;
        String uid = new UUID(0, made++).toString();
        return new ToyPod(
                uid, team.name, cores, over ? -100 : 0, gang == null ? uid : gang, length, now);
    }

    private void schedule() {
        pods.stream()
                .filter(pod -> pod.node == null)
                .sorted(
                        Comparator.comparingInt((ToyPod pod) -> -pod.priority)
                                .thenComparing(pod -> pod.since))
                .toList()
                .forEach(this::place);
    }

    private void place(ToyPod pod) {
        pod.nominated = null;
        for (NodeView node : nodes) {
            GpuLayout free = free(node);
            var place = free.place(pod.asks());
            if (place.isPresent()) {
                pod.bind(node.name(), now, place.get());
                orders.stream()
                        .filter(it -> it.phase() == Phase.Done)
                        .filter(it -> waiter(it).uid().equals(pod.uid))
                        .forEach(this::helped);
                return;
            }
        }
        if (pod.priority >= 0) {
            preempt(pod);
        }
    }

    /** As kube-scheduler does: by the node's totals, pods of lower priority only. */
    private void preempt(ToyPod pod) {
        for (NodeView node : nodes) {
            long free = 100L * GPUS - on(node).stream().mapToLong(it -> it.cores).sum();
            List<ToyPod> weaker =
                    on(node).stream()
                            .filter(it -> it.priority < pod.priority)
                            .sorted(Comparator.comparing((ToyPod it) -> it.since).reversed())
                            .toList();
            long possible = free + weaker.stream().mapToLong(it -> it.cores).sum();
            if (free >= pod.cores || possible < pod.cores) {
                continue;
            }
            for (ToyPod victim : weaker) {
                if (free < pod.cores) {
                    victim.leave(now);
                    free += victim.cores;
                }
            }
            pod.nominated = node.name();
            return;
        }
    }

    private List<ToyPod> on(NodeView node) {
        return pods.stream().filter(pod -> node.name().equals(pod.node)).toList();
    }

    private GpuLayout free(NodeView node) {
        GpuLayout free = Objects.requireNonNull(node.empty().gpus());
        for (ToyPod pod : on(node)) {
            free = free.without(pod.gpus);
        }
        for (ToyPod pod : ended.keySet()) {
            free = node.name().equals(pod.node) ? free.without(pod.gpus) : free;
        }
        return free;
    }

    private static GpuEviction.Waiter waiter(GpuEviction order) {
        return Objects.requireNonNull(order.getSpec().waiter());
    }

    private void helped(GpuEviction order) {
        Status status = order.getStatus();
        order.setStatus(
                new Status(
                        status.phase(),
                        status.plannedAt(),
                        status.victims(),
                        null,
                        null,
                        new Outcome(true, "it was bound", now.toString())));
    }

    /** A team and its budget of the day. */
    static final class Team {
        final String name;
        final OnExhausted onExhausted;
        final long granted;
        final Duration minimumRun;
        long used;

        Team(String name, OnExhausted onExhausted, long granted, Duration minimumRun) {
            this.name = name;
            this.onExhausted = onExhausted;
            this.granted = granted;
            this.minimumRun = minimumRun;
        }

        Standing standing() {
            return used < granted
                    ? new Standing.InBudget(new GpuTime(granted - used), null)
                    : new Standing.OverBudget(new GpuTime(used - granted));
        }
    }

    /** A pod, waiting or running. */
    static final class ToyPod {
        final String uid;
        final String team;
        final long cores;
        final int priority;
        final String gang;
        final Duration length;
        final boolean isProtected;
        Instant since;
        List<GpuHold> gpus = List.of();
        @Nullable String node;
        @Nullable String nominated;
        @Nullable Instant leavesAt;

        ToyPod(
                String uid,
                String team,
                long cores,
                int priority,
                String gang,
                Duration length,
                Instant since) {
            this.uid = uid;
            this.team = team;
            this.cores = cores;
            this.priority = priority;
            this.gang = gang;
            this.length = length;
            this.isProtected = gang.hashCode() % 5 == 0;
            this.since = since;
        }

        List<GpuAsk> asks() {
            return List.of(
                    cores >= 100
                            ? new GpuAsk((int) (cores / 100), 100, 0, true)
                            : new GpuAsk(1, cores, 0, false));
        }

        private List<ContainerAsk> containers(Set<String> on) {
            return List.of(new ContainerAsk("cuda", Kind.App, asks().getFirst(), on));
        }

        void bind(String to, Instant at, List<GpuHold> held) {
            node = to;
            since = at;
            gpus = held;
        }

        void leave(Instant at) {
            if (leavesAt == null) {
                leavesAt = at.plus(GRACE);
            }
        }

        PodRef ref() {
            return new PodRef(uid, team, uid);
        }

        Waiter waiter() {
            return new Waiter(
                    ref(),
                    since,
                    nominated,
                    false,
                    priority,
                    priority >= 0,
                    new PodAsk(amounts(cores, 0, 0), asks(), containers(Set.of())),
                    uid,
                    SchedulingConstraints.NONE,
                    null,
                    Reach.Everywhere);
        }

        Holder gpuPod() {
            return new Holder(
                    ref(),
                    Objects.requireNonNull(node),
                    since,
                    priority,
                    cores * 10_000,
                    new PodHold(
                            amounts(cores, 0, 0),
                            gpus,
                            containers(gpus.stream().map(GpuHold::gpu).collect(toSet()))),
                    gang,
                    leavesAt != null,
                    null,
                    isProtected ? Set.of(DISRUPTION_BUDGET) : Set.of(),
                    leavesAt,
                    GRACE,
                    false);
        }
    }

    Map<String, Long> coresByGpu(String node, Set<String> without) {
        Map<String, Long> held = new TreeMap<>();
        Stream.concat(
                        pods.stream()
                                .filter(pod -> !without.contains(pod.uid) && pod.leavesAt == null),
                        ended.keySet().stream())
                .filter(pod -> node.equals(pod.node))
                .flatMap(pod -> pod.gpus.stream())
                .forEach(gpu -> held.merge(gpu.gpu(), gpu.cores(), Long::sum));
        return held;
    }
}

package io.gpusharing.scheduler.preemption;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Dialect;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Nodes with GPUs of 100 hundredths and 1000 MiB each, and an API server that is asked for them.
 */
final class ToyCluster implements ClusterReader, PresentStandings, PresentStandings.Present {

    static final int MEMORY = 1_000;

    final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    final RunningPods running = new RunningPods();
    EndingRules endings = new EndingRules(Duration.ofMinutes(1), Duration.ofMinutes(5));
    final SteppingClock clock = new SteppingClock(ToyPod.NOON);
    final List<ToyPod> pods = new ArrayList<>();

    /** Pods for which room is being made, by node. */
    final Map<String, List<Load>> nominated = new HashMap<>();

    /** Of the namespace of all its pods. */
    final List<DisruptionBudget> budgets = new ArrayList<>();

    /** Whom kube-scheduler would evict, by node; nodes that are not here are no candidates. */
    final Map<String, Set<String>> stock = new HashMap<>();

    /** The nodes that the API server was asked for. */
    final List<String> read = new ArrayList<>();

    /** How long it takes to answer. */
    Duration latency = Duration.ZERO;

    /** Who pays for a namespace. */
    final Map<String, BudgetAccount> payers = new HashMap<>();

    /** Namespaces that an administrator protects. */
    final Set<String> protectedNamespaces = new HashSet<>();

    private final Map<String, Amounts> allocatable = new HashMap<>();

    ToyCluster node(String name, int count) {
        return node(name, count, 100);
    }

    ToyCluster node(String name, int count, int cpu) {
        describe(name, count, Set.of(), Map.of());
        allocatable.put(name, amounts(100 * count, cpu, 110));
        stock.put(name, Set.of());
        return this;
    }

    /**
     * @param granted hundredths of GPUs that the device plugin counts for a pod
     */
    void describe(
            String node, int count, Set<Integer> unhealthy, Map<String, List<GpuHold>> granted) {
        describe(node, count, unhealthy, granted, false);
    }

    void describe(
            String node,
            int count,
            Set<Integer> unhealthy,
            Map<String, List<GpuHold>> granted,
            boolean servesMps) {
        List<Gpu> all =
                IntStream.range(0, count)
                        .mapToObj(i -> new Gpu(gpu(node, i), 100, MEMORY))
                        .toList();
        gpus.describe(
                new SharedNode(
                        node,
                        IntStream.range(0, count)
                                .filter(i -> !unhealthy.contains(i))
                                .mapToObj(all::get)
                                .toList(),
                        unhealthy.stream().map(all::get).toList(),
                        granted,
                        Map.of(),
                        "",
                        servesMps,
                        Set.of()));
    }

    static String gpu(String node, int index) {
        return node + "-gpu-" + index;
    }

    ToyCluster with(ToyPod... more) {
        for (ToyPod pod : more) {
            pods.add(pod);
            if (pod.cores() > 0) {
                gpus.bind(gpuPod(pod), pod.node());
                running.put(pod.running(), pod.node());
            }
        }
        return this;
    }

    static GpuPod gpuPod(ToyPod pod) {
        List<Integer> on = pod.gpus();
        int count = on == null ? 1 : on.size();
        GpuAsk ask =
                pod.isWhole()
                        ? wholes(count)
                        : new GpuAsk(count, pod.cores(), pod.memory(), false).shared(pod.sharing());
        Set<String> uuids =
                on == null
                        ? Set.of()
                        : on.stream().map(i -> gpu(pod.node(), i)).collect(Collectors.toSet());
        return gpuPod(pod.name(), pod.priority(), pod.deletion(), ask, uuids);
    }

    static GpuPod gpuPod(
            String name, int priority, @Nullable Instant end, GpuAsk ask, Set<String> on) {
        return new GpuPod(
                name,
                "team-a",
                name,
                List.of(container("c", ask, on)),
                List.of("c"),
                Dialect.Vcuda,
                priority,
                end,
                Strategy.BestFit,
                null);
    }

    void end(ToyPod pod) {
        pods.removeIf(it -> it.name().equals(pod.name()));
        gpus.forget(pod.name());
        running.remove(pod.name());
    }

    private static ContainerAsk container(String name, GpuAsk ask, Set<String> on) {
        return new ContainerAsk(name, Kind.App, ask, on);
    }

    static GpuAsk wholes(int count) {
        return new GpuAsk(count, 100, 0, true);
    }

    static GpuAsk part(int cores, int memory) {
        return new GpuAsk(1, cores, memory, false);
    }

    /** A pod of priority 1000 that needs one cpu, and that each of its containers gets this. */
    static Preemptor waiter(GpuAsk... asks) {
        return waiter(1_000, 1, asks);
    }

    static Preemptor waiter(int priority, int cpu, GpuAsk... asks) {
        var containers = new ArrayList<ContainerAsk>();
        int cores = 0;
        for (GpuAsk ask : asks) {
            containers.add(container("c" + containers.size(), ask, Set.of()));
            cores += ask.count() * (int) ask.cores();
        }
        return new Preemptor(
                "waiter",
                "team-b",
                priority,
                true,
                "waiter",
                null,
                containers,
                amounts(cores, cpu, 1),
                null,
                ToyPod.NOON.minus(Duration.ofHours(1)));
    }

    static Amounts amounts(int cores, int cpu, int slots) {
        return new Amounts(
                Map.of(
                        "tencent.com/vcuda-core",
                        BigDecimal.valueOf(cores),
                        "cpu",
                        BigDecimal.valueOf(cpu),
                        "pods",
                        BigDecimal.valueOf(slots)));
    }

    Optional<Preemption> preempt(Preemptor waiter) {
        return new Preemptions(
                        gpus, running, this, this, new BudgetClasses(0, -100), endings, clock)
                .choose(waiter, stock);
    }

    /** The names of the victims, the most important first; nobody is an empty list. */
    List<String> victims(Preemptor waiter) {
        return preempt(waiter).stream()
                .flatMap(it -> it.victims().stream())
                .map(RunningPod::name)
                .toList();
    }

    @Override
    public Optional<NodePods> read(String node) {
        read.add(node);
        clock.pass(latency);
        return Optional.ofNullable(allocatable.get(node))
                .map(it ->
                        new NodePods(
                                it,
                                pods.stream()
                                        .filter(pod -> pod.node().equals(node))
                                        .map(pod -> new Load(pod.running(), requests(pod)))
                                        .toList(),
                                nominated.getOrDefault(node, List.of())));
    }

    @Override
    public Present now() {
        return this;
    }

    @Override
    public Instant at() {
        return clock.instant();
    }

    @Override
    public @Nullable BudgetAccount payer(String namespace) {
        return payers.get(namespace);
    }

    @Override
    public boolean protects(String namespace) {
        return protectedNamespaces.contains(namespace);
    }

    private static Amounts requests(ToyPod pod) {
        List<Integer> on = pod.gpus();
        return amounts(pod.cores() * (on == null ? 1 : on.size()), pod.cpu(), 1);
    }

    @Override
    public Map<String, List<DisruptionBudget>> disruptionBudgets() {
        return Map.of("team-a", budgets);
    }
}

package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.reclaiming.Cluster.amounts;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Two nodes that our device plugin serves, some pods, and one that waits. It knows on which GPU
 * each pod is, and counts by itself what is free.
 */
public record SmallCluster(List<ToyNode> nodes, List<ToyPod> pods, List<ContainerAsk> waiter) {

    private static final long MEMORY = 60;

    /** Who says where a pod is. */
    enum Source {
        GRANTED,
        WRITTEN,
        NOBODY
    }

    private static final List<Sharing> WAYS =
            List.of(
                    Sharing.TIME_SLICES,
                    Sharing.cooperative("budget/a"),
                    Sharing.cooperative("budget/b"));

    private static final List<Source> SOURCES = List.of(Source.values());
    private static final List<Kind> KINDS = List.of(Kind.values());

    /** On the first {@code healthy} of its GPUs containers may start. */
    record ToyNode(String name, int gpus, int healthy, int cpus, boolean servesMps) {

        Sharing way(GpuAsk ask) {
            return servesMps ? ask.sharing() : Sharing.TIME_SLICES;
        }
    }

    record ToyPod(
            String namespace,
            String name,
            int node,
            int gpu,
            GpuAsk ask,
            Source source,
            String gang,
            boolean leaving,
            boolean isGone) {

        String uid() {
            return namespace + "-" + name;
        }
    }

    public static SmallCluster of(Random random) {
        var nodes = new ArrayList<ToyNode>();
        for (int i = 0; i < 2; i++) {
            int gpus = 2 + random.nextInt(2);
            nodes.add(
                    new ToyNode(
                            "n" + i,
                            gpus,
                            gpus - (random.nextInt(4) == 0 ? 1 : 0),
                            random.nextInt(4) == 0 ? 3 : 20,
                            random.nextBoolean()));
        }
        var pods = new ArrayList<ToyPod>();
        for (int i = 0; i < 8; i++) {
            int node = random.nextInt(2);
            int gpu = random.nextInt(nodes.get(node).gpus());
            GpuAsk ask = ask(random).shared(way(random));
            if (fits(pods, nodes.get(node), node, gpu, ask)) {
                pods.add(pod(i, node, gpu, ask, random));
            }
        }
        return new SmallCluster(nodes, pods, ContainerAsk.shared(waiter(random), way(random)));
    }

    private static Sharing way(Random random) {
        return WAYS.get(random.nextInt(WAYS.size()));
    }

    private static ToyPod pod(int i, int node, int gpu, GpuAsk ask, Random random) {
        String namespace = random.nextInt(3) > 0 ? "team-a" : "team-c";
        String name = "p" + i;
        boolean isGone = random.nextInt(12) == 0;
        Source source = isGone ? Source.GRANTED : SOURCES.get((random.nextInt(8) + 1) / 4);
        return new ToyPod(
                namespace,
                name,
                node,
                gpu,
                ask,
                source,
                namespace + (random.nextInt(4) == 0 ? "-job" : "-" + name),
                random.nextInt(10) == 0,
                isGone);
    }

    private static boolean fits(List<ToyPod> pods, ToyNode toy, int node, int gpu, GpuAsk ask) {
        List<ToyPod> others =
                pods.stream().filter(pod -> pod.node() == node && pod.gpu() == gpu).toList();
        return ask.whole()
                ? others.isEmpty()
                : others.stream().noneMatch(pod -> pod.ask().whole())
                        && others.stream().allMatch(pod -> toy.way(pod.ask()).equals(toy.way(ask)))
                        && cores(others) + ask.cores() <= 100
                        && memory(others) + ask.memory() <= MEMORY;
    }

    private static GpuAsk ask(Random random) {
        return random.nextInt(6) == 0
                ? new GpuAsk(1, 100, 0, true)
                : new GpuAsk(1, 10L * (2 + random.nextInt(7)), 5L * (1 + random.nextInt(7)), false);
    }

    private static List<ContainerAsk> waiter(Random random) {
        if (random.nextInt(6) == 0) {
            return List.of(
                    new ContainerAsk(
                            "c0",
                            Kind.App,
                            new GpuAsk(1 + random.nextInt(2), 100, 0, true),
                            Set.of()));
        }
        int containers = 1 + random.nextInt(3) / 2 + random.nextInt(4) / 3;
        return IntStream.range(0, containers)
                .mapToObj(i ->
                        new ContainerAsk(
                                "c" + i,
                                i == 0 ? Kind.App : KINDS.get(random.nextInt(KINDS.size())),
                                ask(random),
                                Set.of()))
                .toList();
    }

    private static long cores(List<ToyPod> pods) {
        return pods.stream().mapToLong(pod -> pod.ask().cores()).sum();
    }

    private static long memory(List<ToyPod> pods) {
        return pods.stream().mapToLong(pod -> pod.ask().memory()).sum();
    }

    /** What each usable GPU of a node has left without pods that are gone, by their names. */
    private GpuLayout free(int node, Set<String> gone) {
        var free = new ArrayList<Gpu>();
        for (int gpu = 0; gpu < nodes.get(node).healthy(); gpu++) {
            int number = gpu;
            List<ToyPod> here =
                    pods.stream()
                            .filter(pod -> pod.node() == node && !gone.contains(pod.name()))
                            .filter(pod -> pod.gpu() == number || pod.source() == Source.NOBODY)
                            .toList();
            boolean whole = here.stream().anyMatch(pod -> pod.ask().whole());
            free.add(
                    new Gpu(
                            "GPU-" + gpu,
                            whole ? 0 : 100 - cores(here),
                            whole ? 0 : MEMORY - memory(here),
                            here.isEmpty(),
                            MEMORY,
                            here.stream()
                                    .map(pod -> nodes.get(node).way(pod.ask()))
                                    .reduce(Sharing::with)
                                    .orElse(Sharing.TIME_SLICES),
                            nodes.get(node).servesMps()));
        }
        return new GpuLayout(free);
    }

    /** Whether the waiter would be placed on a node without pods, and its sums suffice. */
    public boolean fits(int node, Set<String> gone) {
        long cpus =
                pods.stream()
                        .filter(pod -> pod.node() == node && !pod.isGone())
                        .filter(pod -> !gone.contains(pod.name()))
                        .count();
        GpuLayout free = free(node, gone);
        return cpus < nodes.get(node).cpus()
                && (waiter.size() == 1
                        ? fits(free, waiter.getFirst().ask(), nodes.get(node))
                        : PodPlacement.placed(waiter, free).isPresent());
    }

    private static boolean fits(GpuLayout free, GpuAsk ask, ToyNode node) {
        return free.gpus().stream()
                        .filter(gpu ->
                                ask.whole()
                                        ? gpu.untouched()
                                        : gpu.cores() >= ask.cores()
                                                && gpu.memory() >= ask.memory()
                                                && (gpu.untouched()
                                                        || gpu.sharing().equals(node.way(ask))))
                        .count()
                >= ask.count();
    }

    boolean fitsSomewhere(Set<String> gone) {
        return fits(0, gone) || fits(1, gone);
    }

    /** Pods that end by themselves, and those of gangs that are evicted. */
    Set<String> gone(Set<String> gangs) {
        return pods.stream()
                .filter(pod -> !pod.isGone())
                .filter(pod -> pod.leaving() || gangs.contains(pod.gang()))
                .map(ToyPod::name)
                .collect(toSet());
    }

    /** Gangs that may be evicted. */
    Set<String> evictable() {
        return pods.stream()
                .filter(pod -> !pod.isGone() && !pod.leaving())
                .filter(pod -> pod.namespace().equals("team-a"))
                .map(ToyPod::gang)
                .collect(toSet());
    }

    public Decision decide() {
        return cluster().decide();
    }

    /** The same cluster, as a test describes one. */
    public Cluster cluster() {
        Cluster cluster = new Cluster().over("team-a", 5).within("team-b").within("team-c");
        for (int i = 0; i < nodes.size(); i++) {
            cluster.replaceNode(
                    Cluster.node(shared(i), amounts(10_000, 10_000, nodes.get(i).cpus())));
        }
        pods.stream().filter(pod -> !pod.isGone()).forEach(pod -> run(cluster, pod));
        return cluster.waits(
                Cluster.pod("team-b", "w")
                        .share(10, 10)
                        .containers(waiter.toArray(ContainerAsk[]::new))
                        .waiting(Duration.ofMinutes(2)));
    }

    private SharedNode shared(int node) {
        ToyNode toy = nodes.get(node);
        var granted = new HashMap<String, List<GpuHold>>();
        pods.stream()
                .filter(pod -> pod.node() == node && pod.source() == Source.GRANTED)
                .forEach(pod ->
                        granted.put(
                                pod.uid(),
                                List.of(
                                        new GpuHold(
                                                "GPU-" + pod.gpu(),
                                                pod.ask().cores(),
                                                pod.ask().memory(),
                                                pod.ask().whole(),
                                                toy.way(pod.ask())))));
        return Cluster.shared(
                toy.name(), toy.gpus(), toy.gpus() - toy.healthy(), granted, toy.servesMps());
    }

    private void run(Cluster cluster, ToyPod toy) {
        Cluster.Pod pod =
                Cluster.pod(toy.namespace(), toy.name())
                        .share(toy.ask().cores(), toy.ask().memory())
                        .sharing(toy.ask().sharing())
                        .age(Duration.ofMinutes(60L + toy.name().hashCode() % 7))
                        .gang(toy.gang());
        if (toy.leaving()) {
            pod.leaving();
        }
        String node = nodes.get(toy.node()).name();
        cluster.runs(
                toy.source() == Source.WRITTEN
                        ? pod.on(node, toy.gpu())
                        : pod.placementUnknown().on(node));
    }
}

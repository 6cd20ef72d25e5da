package io.gpusharing.scheduler.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.gpusharing.scheduler.gpus.Filtered;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random pods on small nodes. What is answered is compared with a search through all subsets of the
 * pods of a node, which counts by itself what is left.
 */
class PreemptionSimulationTest {

    private static final List<Duration> ENDS =
            List.of(Duration.ofSeconds(20), Duration.ofDays(365), Duration.ofMinutes(-2));

    private static final List<Sharing> WAYS =
            List.of(
                    Sharing.TIME_SLICES,
                    Sharing.cooperative("budget/team-a"),
                    Sharing.cooperative("budget/team-b"));

    /** What somebody else than a pod of the node has of a GPU. */
    private record Fixed(int gpu, int cores, int memory, Sharing sharing) {}

    /** A node as the search sees it. */
    private static final class Node {

        private final String name;
        private final int count;
        private final int cpu;
        private final Set<Integer> unhealthy = new HashSet<>();

        private final boolean servesMps;
        private final List<Fixed> fixed = new ArrayList<>();

        private final List<ToyPod> pods = new ArrayList<>();
        private int nominatedCpu;

        Node(String name, int count, int cpu, boolean servesMps) {
            this.servesMps = servesMps;
            this.name = name;
            this.count = count;
            this.cpu = cpu;
        }

        /** Hundredths, MiB, and how many hold some, of each GPU beside those who stay. */
        private int[][] free(Set<String> gone) {
            int[][] free = new int[count][];
            for (int gpu = 0; gpu < count; gpu++) {
                free[gpu] = new int[] {100, ToyCluster.MEMORY, 0};
            }
            for (Fixed hold : fixed) {
                take(free[hold.gpu()], hold.cores(), hold.memory());
            }
            for (ToyPod pod : pods) {
                List<Integer> on = pod.gpus();
                if (pod.cores() > 0 && !gone.contains(pod.name())) {
                    for (int gpu : on == null ? IntStream.range(0, count).boxed().toList() : on) {
                        take(free[gpu], pod.cores(), pod.isWhole() ? 2_000 : pod.memory());
                    }
                }
            }
            return free;
        }

        private Sharing way(Sharing wish) {
            return servesMps ? wish : Sharing.TIME_SLICES;
        }

        /** Whether all who stay on a GPU share it in this way. */
        private boolean isSharedSo(int gpu, Sharing wish, Set<String> gone) {
            Sharing own = way(wish);
            return fixed.stream()
                            .filter(hold -> hold.gpu() == gpu)
                            .allMatch(hold -> hold.sharing().equals(own))
                    && pods.stream()
                            .filter(pod -> pod.cores() > 0 && !gone.contains(pod.name()))
                            .filter(pod -> pod.gpus() == null || pod.gpus().contains(gpu))
                            .allMatch(pod -> way(pod.sharing()).equals(own));
        }

        private static void take(int[] free, int cores, int memory) {
            free[0] -= cores;
            free[1] -= memory;
            free[2]++;
        }

        boolean fits(Set<String> gone, int cpuWanted, GpuAsk ask) {
            int cpuLeft = cpu;
            int coresLeft = 100 * count;
            for (ToyPod pod : pods) {
                if (!gone.contains(pod.name())) {
                    List<Integer> on = pod.gpus();
                    cpuLeft -= pod.cpu();
                    coresLeft -= pod.cores() * (on == null ? 1 : on.size());
                }
            }
            int[][] free = free(gone);
            long usable =
                    IntStream.range(0, count)
                            .filter(gpu -> !unhealthy.contains(gpu))
                            .filter(gpu ->
                                    ask.whole()
                                            ? free[gpu][2] == 0
                                            : free[gpu][0] >= ask.cores()
                                                    && free[gpu][1] >= ask.memory()
                                                    && isSharedSo(gpu, ask.sharing(), gone))
                            .count();
            return cpuLeft >= cpuWanted
                    && coresLeft >= ask.cores() * ask.count()
                    && usable >= ask.count();
        }
    }

    private final ToyCluster cluster = new ToyCluster();
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private boolean plenty;

    /** Decides how pods share GPUs; null if all take turns. */
    private @Nullable Random ways;

    private int allowed;

    @ParameterizedTest
    @RandomSeeds(500)
    void theAnswerIsEnoughAndNoMoreAndNobodyGoesInVain(long seed) {
        var random = new Random(seed);
        ways = new Random(seed);
        populate(random);
        int priority = List.of(-100, 5, 1_000).get(random.nextInt(3));
        int cpu = 1 + random.nextInt(6);
        GpuAsk ask =
                random.nextInt(4) == 0
                        ? ToyCluster.wholes(1 + random.nextInt(2))
                        : ToyCluster.part(5 + random.nextInt(90), 50 + random.nextInt(900))
                                .shared(way());

        Optional<Preemption> answer = cluster.preempt(ToyCluster.waiter(priority, cpu, ask));

        boolean someFits =
                nodes.values().stream().anyMatch(node -> node.fits(leaving(node), cpu, ask));
        Map<String, List<Set<String>>> solutions = new HashMap<>();
        nodes.values()
                .forEach(node -> solutions.put(node.name, solutions(node, priority, cpu, ask)));
        if (answer.isEmpty()) {
            assertThat(someFits || solutions.values().stream().allMatch(List::isEmpty))
                    .as("nobody may go (seed %d)", seed)
                    .isTrue();
            return;
        }
        Preemption chosen = answer.get();
        Set<String> victims =
                chosen.victims().stream().map(RunningPod::uid).collect(Collectors.toSet());
        assertThat(someFits).as("nobody need go (seed %d)", seed).isFalse();
        List<Set<String>> there = solutions.getOrDefault(chosen.node(), List.of());
        assertThat(there).as("seed %d", seed).contains(victims);
        assertThat(there)
                .as("fewer would do (seed %d)", seed)
                .noneMatch(it -> it.size() < victims.size() && victims.containsAll(it));
        assertThat(chosen.cost().violations())
                .as("seed %d", seed)
                .isEqualTo(Math.max(0, guarded(chosen) - allowed));
        if (plenty && guarded() == 0) {
            assertThat(chosen.cost().highest())
                    .as("nobody as important need go (seed %d)", seed)
                    .isEqualTo(
                            nodes.values().stream()
                                    .flatMap(node ->
                                            solutions.getOrDefault(node.name, List.of()).stream())
                                    .mapToInt(this::highest)
                                    .min()
                                    .orElseThrow());
        }
    }

    private static int guarded(Preemption chosen) {
        return (int) chosen.victims().stream().filter(it -> !it.labels().isEmpty()).count();
    }

    private long guarded() {
        return cluster.pods.stream().filter(pod -> !pod.labels().isEmpty()).count();
    }

    private int highest(Set<String> victims) {
        return cluster.pods.stream()
                .filter(pod -> victims.contains(pod.name()))
                .mapToInt(ToyPod::priority)
                .max()
                .orElseThrow();
    }

    /** All sets of pods that may go from the node and make room. */
    private List<Set<String>> solutions(Node node, int priority, int cpu, GpuAsk ask) {
        List<ToyPod> staying = node.pods.stream().filter(pod -> pod.deletion() == null).toList();
        var found = new ArrayList<Set<String>>();
        for (int subset = 1; subset < 1 << staying.size(); subset++) {
            var victims = new HashSet<String>();
            for (int i = 0; i < staying.size(); i++) {
                if ((subset >> i & 1) == 1) {
                    victims.add(staying.get(i).name());
                }
            }
            var gone = new HashSet<>(victims);
            gone.addAll(leaving(node));
            if (mayGo(node, victims, priority) && node.fits(gone, cpu + node.nominatedCpu, ask)) {
                found.add(victims);
            }
        }
        return found;
    }

    private boolean mayGo(Node node, Set<String> victims, int priority) {
        for (ToyPod victim : node.pods) {
            if (!victims.contains(victim.name())) {
                continue;
            }
            List<ToyPod> gang =
                    cluster.pods.stream()
                            .filter(pod -> pod.gang().equals(victim.gang()))
                            .filter(pod -> pod.deletion() == null)
                            .toList();
            boolean together =
                    gang.stream()
                            .filter(pod -> pod.node().equals(node.name))
                            .allMatch(pod -> victims.contains(pod.name()));
            // Pods without a GPU are not followed on other nodes.
            Set<String> gpuNodes =
                    gang.stream()
                            .filter(pod -> pod.cores() > 0)
                            .map(ToyPod::node)
                            .collect(Collectors.toSet());
            boolean ours =
                    gang.stream()
                            .filter(pod -> pod.node().equals(node.name))
                            .anyMatch(pod ->
                                    pod.cores() > 0
                                            || cluster.stock
                                                    .getOrDefault(node.name, Set.of())
                                                    .contains(pod.name()));
            if (victim.priority() >= priority || !together || gpuNodes.size() > 1 || !ours) {
                return false;
            }
        }
        return true;
    }

    private static Set<String> leaving(Node node) {
        return node.pods.stream()
                .filter(pod -> {
                    Instant end = pod.deletion();
                    return end != null
                            && end.isAfter(ToyPod.NOON)
                            && end.isBefore(ToyPod.NOON.plus(Duration.ofHours(1)));
                })
                .map(ToyPod::name)
                .collect(Collectors.toSet());
    }

    private Sharing way() {
        return ways == null ? Sharing.TIME_SLICES : WAYS.get(ways.nextInt(WAYS.size()));
    }

    private void populate(Random random) {
        plenty = random.nextBoolean();
        allowed = random.nextInt(2);
        boolean guarded = random.nextInt(3) == 0;
        cluster.budgets.add(
                new DisruptionBudget(
                        "team-a/web",
                        new LabelSelectorBuilder().addToMatchLabels("app", "web").build(),
                        allowed,
                        Set.of()));
        for (String name : List.of("a", "b", "c").subList(0, 1 + random.nextInt(3))) {
            var node =
                    new Node(
                            name,
                            1 + random.nextInt(3),
                            plenty ? 100 : 12,
                            ways != null && ways.nextBoolean());
            nodes.put(name, node);
            cluster.node(name, node.count, node.cpu);
            describe(node, random);
            for (int i = 3 + random.nextInt(6); i > 0; i--) {
                ToyPod pod = pod(name + i, node, random);
                if (guarded && random.nextInt(3) == 0) {
                    pod = pod.label("app", "web");
                }
                node.pods.add(pod);
                cluster.with(pod);
            }
            cluster.stock.put(
                    name,
                    node.pods.stream()
                            .filter(pod -> random.nextBoolean())
                            .map(ToyPod::name)
                            .collect(Collectors.toSet()));
            if (random.nextInt(3) == 0) {
                reserve(node, 10 + random.nextInt(60), way());
            }
            if (random.nextInt(4) == 0) {
                node.nominatedCpu = 1 + random.nextInt(4);
                cluster.nominated.put(
                        name,
                        List.of(
                                new Load(
                                        ToyPod.plain("nominated", name, 0)
                                                .priority(1_000)
                                                .running(),
                                        ToyCluster.amounts(0, node.nominatedCpu, 1))));
            }
        }
    }

    private void describe(Node node, Random random) {
        Map<String, List<GpuHold>> granted = Map.of();
        if (random.nextInt(5) == 0) {
            int gpu = random.nextInt(node.count);
            Sharing way = node.way(way());
            node.fixed.add(new Fixed(gpu, 30, 100, way));
            granted =
                    Map.of(
                            "gone",
                            List.of(
                                    new GpuHold(
                                            ToyCluster.gpu(node.name, gpu), 30, 100, false, way)));
        }
        if (random.nextInt(6) == 0) {
            node.unhealthy.add(random.nextInt(node.count));
        }
        cluster.describe(node.name, node.count, node.unhealthy, granted, node.servesMps);
    }

    private ToyPod pod(String name, Node node, Random random) {
        ToyPod pod = ToyPod.plain(name, node.name, 1 + random.nextInt(3));
        int cores = random.nextInt(8) == 0 ? 100 : 5 + 5 * random.nextInt(16);
        int memory = 50 + random.nextInt(600);
        Sharing sharing = way();
        if (random.nextInt(5) > 0) {
            int[][] free = node.free(Set.of());
            int gpu = random.nextInt(node.count);
            boolean fits =
                    cores == 100
                            ? free[gpu][2] == 0
                            : free[gpu][0] >= cores
                                    && free[gpu][1] >= memory
                                    && node.isSharedSo(gpu, sharing, Set.of());
            if (fits) {
                pod =
                        ToyPod.part(name, node.name, gpu, cores)
                                .memory(memory)
                                .cpu(pod.cpu())
                                .shared(sharing);
                pod = random.nextInt(12) == 0 ? pod.on(null) : pod;
            }
        }
        pod =
                pod.priority(List.of(-200, -100, 0, 5, 999, 1_000).get(random.nextInt(6)))
                        .minutesOld(1 + random.nextInt(9));
        if (random.nextInt(4) == 0) {
            pod = pod.gang("gang-" + random.nextInt(4));
        }
        return random.nextInt(9) == 0 ? pod.deleted(ENDS.get(random.nextInt(ENDS.size()))) : pod;
    }

    /** As kube-scheduler and the extender do for a pod that is not bound yet. */
    private void reserve(Node node, int cores, Sharing way) {
        String uid = "reserved-on-" + node.name;
        cluster.gpus
                .claim(
                        waiting(uid, ToyCluster.part(cores, 100).shared(way)),
                        node.name,
                        ToyPod.NOON)
                .ifPresent(placement -> {
                    String gpu = placement.held().getFirst().gpu();
                    node.fixed.add(
                            new Fixed(
                                    Integer.parseInt(gpu.substring(gpu.lastIndexOf('-') + 1)),
                                    cores,
                                    100,
                                    node.way(way)));
                });
    }

    private static GpuPod waiting(String uid, GpuAsk... asks) {
        return new GpuPod(uid, "team-a", uid, ToyCluster.waiter(asks).asks());
    }

    /** What several containers get is asked of filter itself: it decides when they have gone. */
    @ParameterizedTest
    @RandomSeeds(200)
    void afterwardsFilterPlacesAPodOfSeveralContainersThereAndNotBefore(long seed) {
        ways = new Random(seed);
        placesAPodOfSeveralContainers(seed);
    }

    private void placesAPodOfSeveralContainers(long seed) {
        var random = new Random(seed);
        populate(random);
        Sharing way = way();
        GpuAsk[] asks =
                IntStream.range(0, 2 + random.nextInt(2))
                        .mapToObj(i ->
                                ToyCluster.part(5 + random.nextInt(90), random.nextInt(500))
                                        .shared(way))
                        .toArray(GpuAsk[]::new);
        Optional<Preemption> answer = cluster.preempt(ToyCluster.waiter(1_000, 1, asks));
        nodes.values().forEach(node -> leaving(node).forEach(cluster.gpus::forget));

        answer.ifPresent(chosen -> {
            GpuPod waiter = waiting("waiter", asks);
            List<String> there = List.of(chosen.node());
            if (plenty) {
                assertThat(cluster.gpus.filter(waiter, there, ToyPod.NOON))
                        .as("it fits beside all of them (seed %d)", seed)
                        .isInstanceOf(Filtered.Nowhere.class);
            }
            chosen.victims().forEach(victim -> cluster.gpus.forget(victim.uid()));
            if (plenty) {
                assertThat(gangs(chosen))
                        .as("nobody could have stayed (seed %d)", seed)
                        .allSatisfy(gang -> {
                            gang.forEach(pod ->
                                    cluster.gpus.bind(ToyCluster.gpuPod(pod), chosen.node()));
                            assertThat(cluster.gpus.filter(waiter, there, ToyPod.NOON))
                                    .isInstanceOf(Filtered.Nowhere.class);
                            gang.forEach(pod -> cluster.gpus.forget(pod.name()));
                        });
            }
            assertThat(cluster.gpus.filter(waiter, there, ToyPod.NOON))
                    .as("seed %d", seed)
                    .isEqualTo(new Filtered.Chosen(chosen.node()));
            assertThat(cluster.gpus.claim("waiter", chosen.node(), ToyPod.NOON))
                    .as("it is placed where we said (seed %d)", seed)
                    .contains(chosen.placement());
        });
    }

    /** Its containers were packed otherwise once a second pod was spared. */
    @Test
    void whoIsNotInTheWayAnyMoreWhenOthersWereSparedIsSparedToo() {
        placesAPodOfSeveralContainers(-3938670218143841359L);
    }

    private List<List<ToyPod>> gangs(Preemption chosen) {
        Map<String, List<ToyPod>> gangs =
                cluster.pods.stream()
                        .filter(pod -> pod.cores() > 0)
                        .filter(pod ->
                                chosen.victims().stream()
                                        .anyMatch(victim -> victim.uid().equals(pod.name())))
                        .collect(Collectors.groupingBy(ToyPod::gang));
        return List.copyOf(gangs.values());
    }
}

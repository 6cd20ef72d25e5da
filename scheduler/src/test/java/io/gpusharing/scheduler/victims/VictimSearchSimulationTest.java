package io.gpusharing.scheduler.victims;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.victims.Room.Part;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * The same small clusters for an order that minds how many go and for one that does not. What is
 * chosen is held against all sets of gangs, by a count that shares no code with the search.
 */
class VictimSearchSimulationTest {

    private static final int CLUSTERS = 10;
    private static final int GANGS = 8;
    private static final int MEMORY = 1_000;

    /** A pod; one of the gang {@link Room#STAYS} stays. */
    private record Pod(int gang, int node, int gpu, GpuAsk ask) {

        GpuHold hold() {
            return new GpuHold(
                    "GPU-" + gpu, ask.cores(), ask.whole() ? MEMORY : ask.memory(), ask.whole());
        }
    }

    private record Node(int gpus, int cpus) {}

    /** Gangs have their numbers by rank. */
    private record Cluster(List<Node> nodes, List<Pod> pods, List<ContainerAsk> waiter) {

        static Cluster of(Random random, int containers) {
            var nodes = new ArrayList<Node>();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                nodes.add(new Node(1 + random.nextInt(3), random.nextInt(3) == 0 ? 3 : 100));
            }
            var pods = new ArrayList<Pod>();
            for (int i = 0; i < 12; i++) {
                int node = random.nextInt(nodes.size());
                var pod =
                        new Pod(
                                random.nextInt(6) == 0 ? Room.STAYS : random.nextInt(GANGS),
                                node,
                                random.nextInt(nodes.get(node).gpus()),
                                ask(random, 1));
                var beside = new Cluster(nodes, pods, List.of());
                if (beside.left(pod.node(), 0).get(pod.gpu()).fits(pod.ask())) {
                    pods.add(pod);
                }
            }
            List<ContainerAsk> waiter =
                    IntStream.range(0, containers)
                            .mapToObj(i ->
                                    new ContainerAsk(
                                            "c" + i,
                                            Kind.App,
                                            ask(random, containers > 1 ? 1 : 2),
                                            Set.of()))
                            .toList();
            return new Cluster(nodes, pods, waiter);
        }

        private static GpuAsk ask(Random random, int most) {
            return random.nextInt(5) == 0
                    ? new GpuAsk(1 + random.nextInt(most), 100, 0, true)
                    : new GpuAsk(1, 5 + 5 * random.nextInt(14), 50 + random.nextInt(600), false);
        }

        private List<Pod> on(int node, int gone) {
            return pods.stream()
                    .filter(pod -> pod.node() == node)
                    .filter(pod -> pod.gang() == Room.STAYS || (gone >> pod.gang() & 1) == 0)
                    .toList();
        }

        private List<Gpu> left(int node, int gone) {
            return IntStream.range(0, nodes.get(node).gpus())
                    .mapToObj(gpu -> {
                        List<GpuAsk> held =
                                on(node, gone).stream()
                                        .filter(pod -> pod.gpu() == gpu)
                                        .map(Pod::ask)
                                        .toList();
                        boolean whole = held.stream().anyMatch(GpuAsk::whole);
                        return new Gpu(
                                "GPU-" + gpu,
                                whole ? 0 : 100 - held.stream().mapToLong(GpuAsk::cores).sum(),
                                whole ? 0 : MEMORY - held.stream().mapToLong(GpuAsk::memory).sum(),
                                held.isEmpty(),
                                MEMORY);
                    })
                    .toList();
        }

        /**
         * Whether the waiter fits.
         *
         * @param gone a bit for each gang
         */
        boolean fits(int node, int gone) {
            List<Gpu> left = left(node, gone);
            GpuAsk first = waiter.getFirst().ask();
            long usable =
                    left.stream()
                            .filter(gpu ->
                                    first.whole()
                                            ? gpu.untouched()
                                            : gpu.cores() >= first.cores()
                                                    && gpu.memory() >= first.memory())
                            .count();
            return on(node, gone).size() < nodes.get(node).cpus()
                    && (waiter.size() == 1
                            ? usable >= first.count()
                            : PodPlacement.placed(waiter, new GpuLayout(left)).isPresent());
        }

        int size(int gangs) {
            return (int)
                    pods.stream()
                            .filter(pod -> pod.gang() != Room.STAYS)
                            .filter(pod -> (gangs >> pod.gang() & 1) == 1)
                            .count();
        }

        List<Room> rooms() {
            return IntStream.range(0, nodes.size()).mapToObj(this::room).toList();
        }

        private Room room(int node) {
            return new Room(
                    Integer.toString(node),
                    new PodAsk(cpus(1), List.of(), waiter),
                    new FreeCapacity(
                            cpus(nodes.get(node).cpus()),
                            new GpuLayout(
                                    IntStream.range(0, nodes.get(node).gpus())
                                            .mapToObj(gpu -> new Gpu("GPU-" + gpu, 100, MEMORY))
                                            .toList()),
                            true),
                    pods.stream()
                            .filter(pod -> pod.node() == node)
                            .map(pod -> new Part(pod.gang(), cpus(1), () -> List.of(pod.hold())))
                            .toList(),
                    Amounts.NONE,
                    List.of());
        }

        private static Amounts cpus(int cpus) {
            return new Amounts(Map.of("cpu", BigDecimal.valueOf(cpus)));
        }
    }

    /** What it costs: the last rank, or of three ranks which are alike, and then how many pods. */
    private record Cost(int last, int pods) implements Comparable<Cost> {

        private static final Comparator<Cost> LEAST_FIRST =
                Comparator.comparingInt(Cost::last).thenComparingInt(Cost::pods);

        @Override
        public int compareTo(Cost other) {
            return LEAST_FIRST.compare(this, other);
        }
    }

    private record ByRank(Cluster cluster, boolean isStrict) implements Order<Cost> {

        @Override
        public List<Integer> firstToGo(BitSet gangs) {
            return gangs.stream().boxed().toList();
        }

        @Override
        public Cost cost(BitSet gangs) {
            return cost(mask(gangs));
        }

        Cost cost(int gangs) {
            int last = 31 - Integer.numberOfLeadingZeros(gangs);
            return new Cost(isStrict ? last : Math.floorDiv(last, 3), cluster.size(gangs));
        }
    }

    private static int mask(BitSet gangs) {
        return gangs.stream().map(gang -> 1 << gang).sum();
    }

    private static int node(Choice<Cost> choice) {
        return Integer.parseInt(choice.room().node());
    }

    private static Optional<Choice<Cost>> search(ByRank order) {
        return new VictimSearch<>(order).search(order.cluster().rooms());
    }

    /** All sets of gangs that make room, by node: first those without the gangs of last rank. */
    private static List<int[]> solutions(Cluster cluster) {
        return IntStream.range(0, cluster.nodes().size())
                .mapToObj(node ->
                        IntStream.range(0, 1 << GANGS)
                                .filter(gone -> cluster.fits(node, gone))
                                .toArray())
                .toList();
    }

    private static void isEnoughAndNotTooMuch(
            Choice<Cost> choice, List<int[]> solutions, String context) {
        int gone = mask(choice.gangs());
        int[] enough = solutions.get(node(choice));
        assertThat(enough).as("it fits: %s", context).contains(gone);
        assertThat(IntStream.of(enough).filter(it -> it != gone && (it & gone) == it))
                .as("fewer would do: %s", context)
                .isEmpty();
    }

    @ParameterizedTest
    @RandomSeeds(200)
    void bothOrdersChooseNoMoreThanIsNeededAndNobodyOfAHigherRankThanMustGo(long seed) {
        var random = new Random(seed);
        for (int i = 0; i < CLUSTERS; i++) {
            var cluster = Cluster.of(random, 1);
            String context = "seed %d, cluster %d: %s".formatted(seed, i, cluster);
            List<int[]> solutions = solutions(cluster);
            var strict = new ByRank(cluster, true);
            var lenient = new ByRank(cluster, false);

            Optional<Choice<Cost>> byRank = search(strict);
            Optional<Choice<Cost>> byNumber = search(lenient);

            boolean solvable = solutions.stream().anyMatch(it -> it.length > 0);
            assertThat(byRank.isPresent()).as(context).isEqualTo(solvable);
            assertThat(byNumber.isPresent()).as(context).isEqualTo(solvable);
            byRank.ifPresent(choice -> {
                isEnoughAndNotTooMuch(choice, solutions, context);
                // The least number is the set whose gangs of last rank stay wherever they can.
                assertThat(choice.cost()).as(context).isEqualTo(least(strict, solutions, 1));
                assertThat(mask(choice.gangs()))
                        .as(context)
                        .isEqualTo(solutions.get(node(choice))[0]);
            });
            byNumber.ifPresent(choice -> {
                isEnoughAndNotTooMuch(choice, solutions, context);
                assertThat(choice.cost().last())
                        .as(context)
                        .isEqualTo(least(lenient, solutions, 1 << GANGS).last());
            });
        }
    }

    /**
     * @param most how many solutions of each node come into question
     */
    private static Cost least(ByRank order, List<int[]> solutions, int most) {
        return IntStream.range(0, solutions.size())
                .boxed()
                .flatMap(node ->
                        IntStream.of(solutions.get(node))
                                .limit(most)
                                .mapToObj(gone -> order.cost(gone)))
                .min(Comparator.naturalOrder())
                .orElseThrow();
    }

    @ParameterizedTest
    @RandomSeeds(100)
    void forSeveralContainersTheyChooseNoMoreThanIsNeeded(long seed) {
        var random = new Random(seed);
        for (int i = 0; i < CLUSTERS; i++) {
            var cluster = Cluster.of(random, 2 + random.nextInt(2));
            String context = "seed %d, cluster %d: %s".formatted(seed, i, cluster);
            List<int[]> solutions = solutions(cluster);
            for (boolean strict : new boolean[] {true, false}) {
                Optional<Choice<Cost>> found = search(new ByRank(cluster, strict));
                found.ifPresent(choice -> isEnoughAndNotTooMuch(choice, solutions, context));
                assertThat(found.isPresent())
                        .as(context)
                        .isEqualTo(solutions.stream().anyMatch(it -> it.length > 0));
            }
        }
    }
}

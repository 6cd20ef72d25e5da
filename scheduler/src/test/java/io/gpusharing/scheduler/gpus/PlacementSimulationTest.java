package io.gpusharing.scheduler.gpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.testing.RandomSeeds;
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
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Pods come, are bound, go and are forgotten in any order, and the extender is started anew in
 * between. What is held is counted here by what was written on pods alone.
 */
class PlacementSimulationTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int STEPS = 400;
    private static final int GPUS = 4;
    private static final long MEMORY = 16_384;

    private static final List<Kind> KINDS = List.of(Kind.values());

    private static final List<String> NODES = List.of("a", "b", "c");

    /** Of these nodes the first two serve MPS. */
    private static final Set<String> WITH_MPS = Set.of("a", "b");

    private static final List<Sharing> WAYS =
            List.of(
                    Sharing.TIME_SLICES,
                    Sharing.cooperative("budget/team-a"),
                    Sharing.cooperative("budget/team-b"));

    /** One pod in the cluster. */
    private static final class Life {

        private final GpuPod pod;
        private Optional<String> node = Optional.empty();
        private Instant until = Instant.MIN;

        /** With what it is being bound: the API server has the request, or has it not. */
        private Optional<Placement> claimed = Optional.empty();

        private Map<String, Set<String>> written = Map.of();

        Life(GpuPod pod) {
            this.pod = pod;
        }

        boolean isBound() {
            return !written.isEmpty();
        }

        GpuPod bound() {
            return new GpuPod(
                    pod.uid(),
                    pod.namespace(),
                    pod.name(),
                    ContainerAsk.chosen(pod.asks(), written));
        }
    }

    private final Map<String, Life> lives = new LinkedHashMap<>();
    private ClusterGpus gpus = started();
    private Instant now = Instant.parse("2026-11-25T12:00:00Z");

    private static ClusterGpus started() {
        var fresh = new ClusterGpus(PATIENCE);
        for (String node : NODES) {
            fresh.describe(
                    new SharedNode(
                            node,
                            IntStream.range(0, GPUS)
                                    .mapToObj(i -> new Gpu(node + i, 100, MEMORY))
                                    .toList(),
                            List.of(),
                            Map.of(),
                            Map.of(),
                            "",
                            WITH_MPS.contains(node),
                            Set.of()));
        }
        return fresh;
    }

    @ParameterizedTest
    @RandomSeeds(60)
    void noGpuIsEverGivenAwayTwiceNorSharedInTwoWaysAndNobodyWaitsBesideRoom(long seed) {
        var random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            now = now.plusMillis(random.nextInt(4_000));
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> lives.put(UUID.randomUUID().toString(), new Life(pod(random)));
                case 3, 4 -> any(random, life -> !life.isBound()).ifPresent(this::filter);
                case 5, 6 -> any(random, life -> life.node.isPresent()).ifPresent(this::claim);
                case 7 ->
                        any(random, life -> life.claimed.isPresent())
                                .ifPresent(life -> answer(life, random));
                case 8 -> any(random, life -> true).ifPresent(this::end);
                default -> {
                    if (random.nextInt(10) == 0) {
                        startAnew();
                    }
                }
            }
            assertNoGpuIsOverbooked();
            assertNoGpuIsSharedInTwoWays();
        }
    }

    private Optional<Life> any(Random random, Predicate<Life> which) {
        List<Life> found = lives.values().stream().filter(which).toList();
        return found.isEmpty()
                ? Optional.empty()
                : Optional.of(found.get(random.nextInt(found.size())));
    }

    private static GpuPod pod(Random random) {
        var asks = new ArrayList<ContainerAsk>();
        boolean takesTurns = false;
        int containers = random.nextInt(6) == 0 ? 2 : 1;
        for (int i = 0; i < containers; i++) {
            GpuAsk ask =
                    random.nextInt(5) == 0
                            ? new GpuAsk(1 + random.nextInt(2), 100, 0, true)
                            : new GpuAsk(1, 5 + random.nextInt(90), random.nextInt(12_000), false);
            Kind kind = i == 0 ? Kind.App : KINDS.get(random.nextInt(KINDS.size()));
            asks.add(new ContainerAsk("c" + i, kind, ask, Set.of()));
            if (ask.whole() && random.nextInt(3) == 0) {
                GpuAsk another =
                        new GpuAsk(1, 5 + random.nextInt(90), random.nextInt(12_000), false);
                asks.add(new ContainerAsk("c" + i, kind, another, Set.of()));
                takesTurns = true;
            }
        }
        return new GpuPod(
                UUID.randomUUID().toString(),
                "team-a",
                "pod",
                ContainerAsk.shared(asks, WAYS.get(takesTurns ? 0 : random.nextInt(WAYS.size()))));
    }

    private void filter(Life life) {
        Filtered filtered = gpus.filter(life.pod, NODES, now);
        if (life.claimed.isPresent()) {
            assertThat(filtered).isEqualTo(new Filtered.Chosen(life.node.orElseThrow()));
            return;
        }
        life.node =
                filtered instanceof Filtered.Chosen(var node, var _)
                        ? Optional.of(node)
                        : Optional.empty();
        life.until = now.plus(PATIENCE);
        if (life.node.isEmpty()
                && life.pod.asks().stream().map(ContainerAsk::container).distinct().count() == 1
                && lives.values().stream().noneMatch(this::holdsAReservation)) {
            assertThat(NODES)
                    .as("%s waits", life.pod.asks())
                    .noneMatch(node -> hasRoom(node, life.pod.asks()));
        }
    }

    /** Whole ones first: where a part of another fits, each of those that are all free would do. */
    private boolean hasRoom(String node, List<ContainerAsk> asks) {
        int taken = 0;
        for (ContainerAsk container : asks) {
            GpuAsk ask = container.ask();
            taken += ask.count();
            if (IntStream.range(0, GPUS)
                            .filter(i -> fits(ask, free(node).toList().get(i)))
                            .filter(i -> mayShare(ask, node, i))
                            .count()
                    < taken) {
                return false;
            }
        }
        return true;
    }

    private boolean holdsAReservation(Life life) {
        return life.claimed.isPresent()
                || (life.node.isPresent() && !life.isBound() && life.until.isAfter(now));
    }

    private static boolean fits(GpuAsk ask, long[] free) {
        return ask.whole()
                ? free[0] == 100 && free[1] == MEMORY
                : free[0] >= ask.cores() && free[1] >= ask.memory();
    }

    private boolean mayShare(GpuAsk ask, String node, int gpu) {
        Sharing own = WITH_MPS.contains(node) ? ask.sharing() : Sharing.TIME_SLICES;
        return ask.whole() || ways(node, gpu).stream().allMatch(own::equals);
    }

    /** In which ways those share a GPU who have parts of it. */
    private Set<Sharing> ways(String node, int gpu) {
        return lives.values().stream()
                .flatMap(life -> life.bound().asks().stream())
                .filter(ask -> ask.on().contains(node + gpu) && !ask.ask().whole())
                .map(ask -> WITH_MPS.contains(node) ? ask.ask().sharing() : Sharing.TIME_SLICES)
                .collect(Collectors.toSet());
    }

    private void assertNoGpuIsSharedInTwoWays() {
        for (String node : NODES) {
            assertThat(IntStream.range(0, GPUS)).allMatch(gpu -> ways(node, gpu).size() <= 1);
        }
    }

    /**
     * What is left of each GPU of a node, processors and memory, by what is written on pods: an
     * ordinary init container is over when the others begin.
     */
    private Stream<long[]> free(String node) {
        return IntStream.range(0, GPUS)
                .mapToObj(i -> {
                    long[] free = {100, MEMORY};
                    for (Life life : lives.values()) {
                        long[] together =
                                held(life, node + i, Set.of(Kind.App, Kind.NativeSidecar));
                        long[] sidecars = held(life, node + i, Set.of(Kind.NativeSidecar));
                        long[] init = held(life, node + i, Set.of(Kind.Init));
                        for (int amount = 0; amount < free.length; amount++) {
                            long most =
                                    init[amount] == 0
                                            ? together[amount]
                                            : Math.max(
                                                    together[amount],
                                                    sidecars[amount] + init[amount]);
                            free[amount] -= most;
                        }
                    }
                    return free;
                });
    }

    private static long[] held(Life life, String gpu, Set<Kind> kinds) {
        long[] held = {0, 0};
        for (ContainerAsk ask : life.bound().asks()) {
            if (kinds.contains(ask.kind()) && ask.on().contains(gpu)) {
                held[0] += ask.ask().cores();
                held[1] += ask.ask().whole() ? MEMORY : ask.ask().memory();
            }
        }
        return held;
    }

    private void claim(Life life) {
        if (life.isBound() || life.claimed.isPresent()) {
            return;
        }
        String node = life.node.orElseThrow();
        life.claimed = gpus.claim(life.pod.uid(), node, now);
        if (life.claimed.isEmpty()) {
            life.claimed = gpus.claim(life.pod, node, now);
        }
    }

    /** The API server answers: yes, no, or nothing though it has bound the pod. */
    private void answer(Life life, Random random) {
        Placement placement = life.claimed.orElseThrow();
        life.claimed = Optional.empty();
        if (random.nextInt(5) == 0) {
            gpus.cancel(life.pod.uid());
            life.node = Optional.empty();
            return;
        }
        if (random.nextInt(5) == 0) {
            gpus.doubt(life.pod.uid(), now);
        }
        life.written = placement.annotation(life.pod.uid()).gpus();
        gpus.bind(life.bound(), placement.node());
    }

    private void end(Life life) {
        gpus.forget(life.pod.uid());
        lives.values().remove(life);
    }

    /** All that is left is what stands on pods. */
    private void startAnew() {
        gpus = started();
        // What was under way ends without us; kube-scheduler asks anew.
        lives.values().forEach(life -> life.claimed = Optional.empty());
        lives.values().stream()
                .filter(Life::isBound)
                .forEach(life -> gpus.bind(life.bound(), life.node.orElseThrow()));
    }

    private void assertNoGpuIsOverbooked() {
        for (String node : NODES) {
            assertThat(free(node)).allMatch(free -> free[0] >= 0 && free[1] >= 0);
        }
        var tenants = new HashMap<String, Set<String>>();
        var wholes = new HashSet<String>();
        for (Life life : lives.values()) {
            for (ContainerAsk ask : life.bound().asks()) {
                for (String gpu : ask.on()) {
                    tenants.computeIfAbsent(gpu, uuid -> new HashSet<>()).add(life.pod.uid());
                    if (ask.ask().whole()) {
                        wholes.add(gpu);
                    }
                }
            }
        }
        assertThat(wholes).allMatch(gpu -> tenants.getOrDefault(gpu, Set.of()).size() == 1);
    }
}

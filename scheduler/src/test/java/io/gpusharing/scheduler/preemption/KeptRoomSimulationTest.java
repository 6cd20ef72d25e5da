package io.gpusharing.scheduler.preemption;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.scheduler.preemption.RunningPod.Stamps;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.testing.RandomSeeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * A stream of small pods against a few large ones of the same priority, for which others have to
 * go: in any order of arrivals, ends and attempts, whoever had others evicted is bound once those
 * have ended.
 */
class KeptRoomSimulationTest {

    private static final int PRIORITY = 1_000;

    private static final List<Sharing> WAYS =
            List.of(
                    Sharing.TIME_SLICES,
                    Sharing.cooperative("budget/team-a"),
                    Sharing.cooperative("budget/team-b"));

    /** Where MPS may be served. */
    private static final String WITH_MPS = "n";

    private final ToyCluster cluster = new ToyCluster();
    private final Random random = new Random();
    private final List<Large> large = new ArrayList<>();
    private final List<ToyPod> leaving = new ArrayList<>();
    private int small;

    /** A pod for which others have to go. */
    private static final class Large {

        private final String name;
        private final GpuAsk ask;
        private Set<String> victims = Set.of();
        private boolean bound;

        Large(String name, GpuAsk ask) {
            this.name = name;
            this.ask = ask;
        }

        GpuPod pod() {
            return ToyCluster.gpuPod(name, PRIORITY, null, ask, Set.of());
        }

        Preemptor preemptor() {
            return new Preemptor(
                    name,
                    "team-a",
                    PRIORITY,
                    true,
                    name,
                    null,
                    pod().asks(),
                    ToyCluster.amounts((int) ask.cores(), 0, 1),
                    null,
                    null);
        }
    }

    @ParameterizedTest
    @RandomSeeds(1_000)
    void whoeverHadOthersEvictedIsBoundOnceTheyHaveEnded(long seed) {
        random.setSeed(seed);
        populate();
        for (int step = 0; step < 60; step++) {
            switch (random.nextInt(4)) {
                case 0 -> endOneVictim();
                case 1 -> attempt(large.get(random.nextInt(large.size())));
                default -> smallPod();
            }
        }
        large.forEach(this::attempt);
        while (!leaving.isEmpty()) {
            endOneVictim();
            smallPod();
        }
        large.stream().filter(pod -> !pod.victims.isEmpty()).forEach(this::attempt);
        assertThat(large)
                .as("seed %d", seed)
                .allSatisfy(pod -> assertThat(pod.bound || pod.victims.isEmpty()).isTrue());
    }

    private void populate() {
        for (String node : List.of("n", "m")) {
            cluster.node(node, 2);
            cluster.describe(node, 2, Set.of(), Map.of(), node.equals(WITH_MPS));
            for (int gpu = 0; gpu < 2; gpu++) {
                Sharing way = way();
                for (int left = 100; left > 30; ) {
                    int cores = 20 + random.nextInt(Math.min(left, 60) - 19);
                    cluster.with(
                            ToyPod.part("low-" + cluster.pods.size(), node, gpu, cores)
                                    .priority(-random.nextInt(3))
                                    .shared(way));
                    left -= cores;
                }
            }
        }
        for (int i = 0; i <= random.nextInt(3); i++) {
            GpuAsk ask =
                    random.nextInt(4) == 0
                            ? ToyCluster.wholes(1)
                            : ToyCluster.part(50 + random.nextInt(50), 100).shared(way());
            large.add(new Large("large-" + i, ask));
        }
    }

    private void endOneVictim() {
        if (!leaving.isEmpty()) {
            cluster.end(leaving.remove(random.nextInt(leaving.size())));
        }
    }

    private void smallPod() {
        int cores = 5 + random.nextInt(30);
        int priority = random.nextBoolean() ? PRIORITY : 0;
        String name = "small-" + small++;
        GpuAsk ask = ToyCluster.part(cores, 100).shared(way());
        place(ToyCluster.gpuPod(name, priority, null, ask, Set.of()))
                .ifPresent(placement -> bind(name, cores, priority, ask, placement));
    }

    /** What kube-scheduler does with a pod, once. */
    private void attempt(Large pod) {
        if (pod.bound) {
            return;
        }
        Optional<Placement> placement = place(pod.pod());
        if (placement.isPresent()) {
            bind(pod.name, (int) pod.ask.cores(), PRIORITY, pod.ask, placement.get());
            pod.bound = true;
            return;
        }
        // It looks for no others while those are ending on the node that it has nominated.
        boolean waits = leaving.stream().map(ToyPod::name).anyMatch(pod.victims::contains);
        assertThat(pod.victims.isEmpty() || waits).as("%s was preempted for", pod.name).isTrue();
        if (!waits) {
            cluster.preempt(pod.preemptor()).ifPresent(chosen -> evict(pod, chosen));
        }
    }

    private void evict(Large pod, Preemption chosen) {
        cluster.gpus.keep(
                new KeptRoom(
                        pod.name,
                        PRIORITY,
                        chosen.node(),
                        chosen.placement().held(),
                        chosen.victims().stream().map(RunningPod::uid).collect(Collectors.toSet()),
                        chosen.keptUntil(ToyPod.NOON)));
        pod.victims = chosen.victims().stream().map(RunningPod::name).collect(Collectors.toSet());
        for (String victim : new TreeSet<>(pod.victims)) {
            ToyPod deleted =
                    cluster.pods.stream()
                            .filter(it -> it.name().equals(victim))
                            .findFirst()
                            .orElseThrow()
                            .deleted(Duration.ofSeconds(30));
            cluster.pods.removeIf(it -> it.name().equals(victim));
            cluster.with(deleted);
            leaving.add(deleted);
        }
    }

    private Optional<Placement> place(GpuPod pod) {
        return cluster.gpus.filter(pod, List.of("n", "m"), ToyPod.NOON)
                        instanceof Chosen(String node, var _)
                ? cluster.gpus.claim(pod.uid(), node, ToyPod.NOON)
                : Optional.empty();
    }

    private void bind(String name, int cores, int priority, GpuAsk ask, Placement placement) {
        List<Integer> on =
                placement.held().stream()
                        .map(hold ->
                                Integer.parseInt(
                                        hold.gpu().substring(hold.gpu().lastIndexOf('-') + 1)))
                        .toList();
        cluster.with(
                new ToyPod(
                        name,
                        placement.node(),
                        on,
                        cores,
                        (int) ask.memory(),
                        0,
                        priority,
                        ToyPod.NOON,
                        null,
                        name,
                        Map.of(),
                        ask.sharing(),
                        new Stamps(true, false, false)));
        if (placement.node().equals(WITH_MPS)) {
            assertThat(on).allMatch(gpu -> waysOf(gpu) <= 1);
        }
    }

    /** In how many ways those share a GPU who have parts of it. */
    private long waysOf(int gpu) {
        return cluster.pods.stream()
                .filter(pod -> pod.node().equals(WITH_MPS) && !pod.isWhole())
                .filter(pod -> requireNonNull(pod.gpus()).contains(gpu))
                .map(ToyPod::sharing)
                .distinct()
                .count();
    }

    private Sharing way() {
        return WAYS.get(random.nextInt(WAYS.size()));
    }
}

package io.gpusharing.scheduler.reclaiming;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import io.gpusharing.testing.RandomSeeds;
import java.util.EnumMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Small clusters as they come, of nodes that our device plugin serves, against a search through all
 * sets of victims that shares no code with the planner.
 */
class SharedReclaimSearchTest {

    private static final int CLUSTERS = 200;

    private static void check(SmallCluster cluster, Decision decision, String context) {
        Set<String> all = cluster.evictable();
        switch (decision) {
            case Evict plan -> {
                int node = plan.node().equals("n0") ? 0 : 1;
                Set<String> gangs = plan.victims().stream().map(Victim::gang).collect(toSet());
                assertThat(all).as(context).containsAll(gangs);
                assertThat(cluster.fits(node, cluster.gone(gangs))).as(context).isTrue();
                for (Set<String> fewer : properSubsets(gangs)) {
                    assertThat(cluster.fits(node, cluster.gone(fewer)))
                            .as("%s: without %s alone", context, fewer)
                            .isFalse();
                }
            }
            case Leave leave -> {
                boolean nobody = cluster.fitsSomewhere(Set.of());
                boolean leaving = cluster.fitsSomewhere(cluster.gone(Set.of()));
                switch (leave.reason()) {
                    case FITS -> assertThat(nobody).as(context).isTrue();
                    case FREEING -> assertThat(leaving && !nobody).as(context).isTrue();
                    case NO_NODE -> {
                        Set<String> everybody =
                                cluster.pods().stream()
                                        .map(SmallCluster.ToyPod::name)
                                        .collect(toSet());
                        assertThat(cluster.fitsSomewhere(everybody)).as(context).isFalse();
                    }
                    case NOBODY, WOULD_NOT_FIT ->
                            assertThat(cluster.fitsSomewhere(cluster.gone(all)) || leaving)
                                    .as(context)
                                    .isFalse();
                    default -> throw new AssertionError(context);
                }
            }
        }
    }

    private static List<Set<String>> properSubsets(Set<String> of) {
        List<String> elements = List.copyOf(of);
        return IntStream.range(0, (1 << elements.size()) - 1)
                .mapToObj(mask ->
                        IntStream.range(0, elements.size())
                                .filter(i -> (mask & (1 << i)) != 0)
                                .mapToObj(elements::get)
                                .collect(toSet()))
                .toList();
    }

    @ParameterizedTest
    @RandomSeeds(20)
    void victimsAreEnoughAndNoneTooManyAndWhereThereAreNoneNoneWouldDo(long seed) {
        var random = new Random(seed);
        for (int i = 0; i < CLUSTERS; i++) {
            SmallCluster cluster = SmallCluster.of(random);
            Decision decision = cluster.decide();
            check(
                    cluster,
                    decision,
                    "seed %d, cluster %d: %s: %s".formatted(seed, i, cluster, decision));
        }
    }

    @Test
    void everyAnswerIsGivenToSomeClusters() {
        var random = new Random(1);
        var reasons = new EnumMap<Reason, Integer>(Reason.class);
        var victims = new TreeSet<Integer>();
        for (int i = 0; i < 2_000; i++) {
            switch (SmallCluster.of(random).decide()) {
                case Evict plan -> victims.add(plan.victims().size());
                case Leave leave -> reasons.merge(leave.reason(), 1, Integer::sum);
            }
        }
        assertThat(victims).contains(1, 2, 3);
        assertThat(reasons)
                .containsKeys(
                        Reason.FITS,
                        Reason.FREEING,
                        Reason.NO_NODE,
                        Reason.NOBODY,
                        Reason.WOULD_NOT_FIT);
    }
}

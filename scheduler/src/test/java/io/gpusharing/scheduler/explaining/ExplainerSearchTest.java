package io.gpusharing.scheduler.explaining;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.scheduler.reclaiming.SmallCluster;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.NodeDetail;
import io.gpusharing.wire.Explanation.State;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random small clusters, explained and compared with one that counts by itself, and with reclaim.
 */
class ExplainerSearchTest {

    private static final int CLUSTERS = 200;

    private static Explanation explain(SmallCluster cluster) {
        ClusterSnapshot snapshot = cluster.cluster().snapshot();
        Waiter waiter = snapshot.waiters().getFirst();
        var subject =
                new Subject(
                        waiter,
                        State.Waits,
                        new PodRequest(List.of()),
                        new Amounts(Map.of("cpu", BigDecimal.ONE)),
                        null,
                        List.of(),
                        List.of());
        return new Explainer(
                        new Picture(snapshot, GpuNames::isGpu),
                        Cluster.RULES,
                        node -> List.of(),
                        namespace -> true)
                .explain(subject, 2);
    }

    @ParameterizedTest
    @RandomSeeds(20)
    void itFitsWhereItWouldBePlacedAndElseReclaimDecidesTheSame(long seed) {
        var random = new Random(seed);
        for (int i = 0; i < CLUSTERS; i++) {
            SmallCluster cluster = SmallCluster.of(random);
            Explanation explanation = explain(cluster);
            String context = "seed %d, cluster %d: %s: %s".formatted(seed, i, cluster, explanation);

            int fits = 0;
            for (int node = 0; node < 2; node++) {
                fits += cluster.fits(node, Set.of()) ? 1 : 0;
            }
            assertThat(requireNonNull(explanation.nodes()).fit()).as(context).isEqualTo(fits);
            for (NodeDetail node : explanation.details()) {
                assertThat(node.fits())
                        .as(context)
                        .isEqualTo(cluster.fits(node.name().equals("n0") ? 0 : 1, Set.of()));
                assertThat(node.reason() == null).as(context).isEqualTo(node.fits());
            }
            Decision decision = cluster.decide();
            String expected =
                    switch (decision) {
                        case Evict evict -> "EVICT";
                        case Leave leave -> leave.reason().name();
                    };
            if (explanation.room() == null) {
                assertThat(expected).as(context).isEqualTo("FITS");
            } else {
                assertThat(explanation.room().decision()).as(context).isEqualTo(expected);
            }
        }
    }

    @Test
    void everyReasonIsGivenToSomeClusters() {
        var random = new Random(1);
        var reasons = new TreeSet<String>();
        for (int i = 0; i < 500; i++) {
            explain(SmallCluster.of(random)).details().stream()
                    .filter(node -> node.reason() != null)
                    .forEach(node -> reasons.add(node.reason()));
        }
        assertThat(reasons).contains("no_room", "too_large", "shared_otherwise");
    }
}

package io.gpusharing.scheduler.picture.reading;

import static io.gpusharing.scheduler.reclaiming.Cluster.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.reclaiming.Cluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A gang of which some pods were admitted in budget and others over it. */
class LoweredPodsTest {

    private static final List<Holder> GANG =
            List.of(
                    pod("team-a", "before").gpus(1).gang("g").on("n1", 0),
                    pod("team-a", "one").gpus(1).gang("g").lowered().on("n1", 1),
                    pod("team-a", "two").gpus(1).gang("g").lowered().on("n2", 0),
                    pod("team-a", "alone").gpus(1).lowered().on("n2", 1));

    private static List<String> gangs(OnExhausted rule) {
        return ClusterSnapshotReader.apart(
                        GANG,
                        Map.of(
                                "team-a",
                                new BudgetAccount(
                                        "team-a",
                                        Cluster.overrun(5),
                                        rule,
                                        Duration.ZERO,
                                        false,
                                        null)))
                .stream()
                .map(Holder::gang)
                .toList();
    }

    /** Or the first one would protect all that come after it. */
    @Test
    void goWithoutTheOthersWhereTheyAloneMay() {
        assertThat(gangs(OnExhausted.LowerPriority))
                .containsExactly("g", "g/over", "g/over", "team-a-alone");
    }

    @ParameterizedTest
    @EnumSource(names = {"Reclaim", "Refuse"})
    void goWithAllWhereAllMay(OnExhausted rule) {
        assertThat(gangs(rule)).containsExactly("g", "g", "g", "team-a-alone");
    }
}

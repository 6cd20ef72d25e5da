package io.gpusharing.timekeeper.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeightsTest {

    private static final Instant JANUARY = Instant.parse("2026-01-01T00:00:00Z");
    private static final Instant MAY = Instant.parse("2026-05-01T00:00:00Z");
    private static final Weights WEIGHTS =
            new Weights(
                    1_500_000,
                    List.of(
                            new OfModel("NVIDIA-A100-SXM4-40GB", 2_500_000, JANUARY),
                            new OfModel("NVIDIA-A100-SXM4-40GB", 2_000_000, MAY),
                            new OfModel("Tesla-T4", 400_000, JANUARY)));

    private static NodeFacts node(String product) {
        return new NodeFacts(Map.of(), Map.of("nvidia.com/gpu.product", product));
    }

    @ParameterizedTest
    @CsvSource({
        "Tesla-T4, 2026-03-01T00:00:00Z, 400000, true",
        "NVIDIA-A100-SXM4-40GB, 2026-04-30T23:59:59Z, 2500000, true",
        "NVIDIA-A100-SXM4-40GB, 2026-05-01T00:00:00Z, 2000000, true",
        // Before its first date a model has no weight.
        "Tesla-T4, 2025-12-31T23:59:59Z, 1500000, false",
        "NVIDIA-H100-80GB-HBM3, 2026-03-01T00:00:00Z, 1500000, false",
        // Shared and cut GPUs are the same model.
        "NVIDIA-A100-SXM4-40GB-SHARED, 2026-03-01T00:00:00Z, 2500000, true",
        "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb, 2026-03-01T00:00:00Z, 2500000, true"
    })
    void theWeightInForceAtTheBindingHolds(
            String product, Instant bound, long millionths, boolean known) {
        Weight weight = WEIGHTS.at(bound, node(product));

        assertThat(weight.millionths()).isEqualTo(millionths);
        assertThat(weight.known()).isEqualTo(known);
    }

    @Test
    void aNodeWithoutAModelLabelHasTheDefaultWeightAndIsFlagged() {
        assertThat(WEIGHTS.at(MAY, NodeFacts.UNKNOWN))
                .isEqualTo(new Weight(null, 1_500_000, false));
    }

    @Test
    void withoutWeightsEveryModelCostsTheSameAndCountsAsWeighed() {
        assertThat(Weights.EQUAL.at(MAY, node("Tesla-T4")))
                .isEqualTo(new Weight("Tesla-T4", 1_000_000, true));
    }
}

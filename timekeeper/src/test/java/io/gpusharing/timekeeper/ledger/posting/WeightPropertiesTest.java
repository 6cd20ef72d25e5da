package io.gpusharing.timekeeper.ledger.posting;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class WeightPropertiesTest {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(Configured.class);

    @EnableConfigurationProperties(WeightProperties.class)
    static class Configured {}

    @Test
    void modelsHaveWeightsFromADateOn() {
        runner.withPropertyValues(
                        "gpusharing.weights.usual=1.5",
                        "gpusharing.weights.models[0].model=Tesla-T4",
                        "gpusharing.weights.models[0].weight=0.4",
                        "gpusharing.weights.models[1].model=Tesla-T4",
                        "gpusharing.weights.models[1].weight=0.3",
                        "gpusharing.weights.models[1].from=2027-01-01T00:00:00Z")
                .run(context ->
                        assertThat(context.getBean(WeightProperties.class).weights())
                                .isEqualTo(
                                        new Weights(
                                                1_500_000,
                                                List.of(
                                                        new OfModel(
                                                                "Tesla-T4", 400_000, Instant.EPOCH),
                                                        new OfModel(
                                                                "Tesla-T4",
                                                                300_000,
                                                                Instant.parse(
                                                                        "2027-01-01T00:00:00Z"))))));
    }

    @Test
    void whereNothingIsConfiguredEveryModelCostsTheSame() {
        runner.withPropertyValues("gpusharing.weights.models=")
                .run(context ->
                        assertThat(context.getBean(WeightProperties.class).weights())
                                .isEqualTo(Weights.EQUAL));
    }
}

package io.gpusharing.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.ExponentialBackoffIntervalCalculator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WebhookConfigurationTest {

    /** Until then a new budget is not known, and its pods are admitted as if there were none. */
    @Test
    void aBrokenWatchIsTriedAgainEveryFourSecondsAtLeast() {
        try (KubernetesClient client = new WebhookConfiguration().kubernetesClient()) {
            var waits =
                    new ExponentialBackoffIntervalCalculator(
                            client.getConfiguration().getWatchReconnectInterval(), -1);

            assertThat(
                            LongStream.generate(waits::nextReconnectInterval)
                                    .limit(100)
                                    .max()
                                    .orElseThrow())
                    .isLessThanOrEqualTo(4_000);
        }
    }
}

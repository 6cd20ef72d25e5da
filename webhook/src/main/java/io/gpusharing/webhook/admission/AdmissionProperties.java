package io.gpusharing.webhook.admission;

import io.gpusharing.webhook.settings.ConfigurationException;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * How reviews are taken in.
 *
 * @param maxConcurrent reviews that are worked on at the same time; more wait
 * @param timeout how long a review may wait where the API server does not say; it is then answered
 *     503, which the failure policy of the webhook configuration judges
 * @param maxBody longest review; an UPDATE carries two objects of up to 3 MiB
 * @param drain how long a replica that ends goes on answering, until nobody is connected
 * @param events whether refusals of pods made by controllers appear as Events on their owner
 */
@Validated
@ConfigurationProperties("gpusharing.admission")
public record AdmissionProperties(
        @Positive int maxConcurrent,
        @NotNull Duration timeout,
        @NotNull DataSize maxBody,
        @NotNull Duration drain,
        boolean events) {

    /**
     * @throws ConfigurationException if nothing could be waited for or taken in
     */
    public AdmissionProperties {
        if (!timeout.isPositive() || timeout.toSeconds() > 30) {
            throw new ConfigurationException(
                    "gpusharing.admission.timeout is " + timeout,
                    "API servers wait 1 to 30 seconds for a webhook; set as long as the webhook configuration says.");
        }
        if (maxBody.toMegabytes() < 1 || maxBody.toMegabytes() > 64) {
            throw new ConfigurationException(
                    "gpusharing.admission.max-body is " + maxBody,
                    "Set 1MB to 64MB; 8MB is as much as an API server sends.");
        }
    }
}

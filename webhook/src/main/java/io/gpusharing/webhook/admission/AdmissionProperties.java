package io.gpusharing.webhook.admission;

import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * How reviews are taken in.
 *
 * @param maxConcurrent reviews that are worked on at the same time; more wait
 * @param timeout how long a review may wait where the API server does not say; it is then answered
 *     503, which the failure policy of the webhook configuration judges
 * @param maxBody longest review; an UPDATE carries two objects of up to 3 MiB
 * @param events whether refusals of pods made by controllers appear as Events on their owner
 */
@ConfigurationProperties("gpusharing.admission")
public record AdmissionProperties(
        @Positive int maxConcurrent,
        @NotNull Duration timeout,
        @NotNull DataSize maxBody,
        boolean events) {}

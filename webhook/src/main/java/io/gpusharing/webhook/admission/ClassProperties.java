package io.gpusharing.webhook.admission;

import jakarta.validation.constraints.NotBlank;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Priority classes of GPU pods.
 *
 * @param inBudget given to pods without a class while their budget has time left
 * @param overBudget given to pods whose budget is used up
 * @param allowed classes that users may choose besides these two; empty allows all
 */
@ConfigurationProperties("gpusharing.classes")
public record ClassProperties(
        @NotBlank String inBudget,
        @NotBlank String overBudget,
        @DefaultValue Set<String> allowed) {}

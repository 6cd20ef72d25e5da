package io.gpusharing.webhook.policy;

import io.gpusharing.webhook.settings.ConfigurationException;
import jakarta.validation.constraints.NotBlank;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Priority classes of GPU pods.
 *
 * @param inBudget given to pods without a class while their budget has time left
 * @param overBudget given to pods whose budget is used up
 * @param allowed classes that users may choose besides these two; empty allows all
 */
@Validated
@ConfigurationProperties("gpusharing.classes")
public record PriorityClassProperties(
        @NotBlank String inBudget, @NotBlank String overBudget, @DefaultValue Set<String> allowed) {

    /**
     * @throws ConfigurationException if both are the same class
     */
    public PriorityClassProperties {
        if (inBudget.equals(overBudget)) {
            throw new ConfigurationException(
                    "gpusharing.classes.in-budget and over-budget are both " + inBudget,
                    "Name two classes, of which the one for pods over budget has the lower value.");
        }
    }
}

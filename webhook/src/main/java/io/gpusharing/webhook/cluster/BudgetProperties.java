package io.gpusharing.webhook.cluster;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Budgets of the installation.
 *
 * @param unnamedNamespaces what applies to a namespace that no {@code GpuBudget} names
 * @param sharedBudget the {@code GpuBudget} that they draw on together, where they do
 * @param excludedNamespaces whose pods are left alone, besides those of our own
 */
@Validated
@ConfigurationProperties("gpusharing.budgets")
public record BudgetProperties(
        @NotNull UnnamedNamespaces unnamedNamespaces,
        @NotBlank String sharedBudget,
        @DefaultValue List<String> excludedNamespaces) {}

package io.gpusharing.webhook.standing;

import jakarta.validation.constraints.NotNull;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Budgets of the installation.
 *
 * @param unnamedNamespaces what applies to a namespace that no {@code GpuBudget} names
 */
@ConfigurationProperties("gpusharing.budgets")
public record BudgetProperties(@NotNull UnnamedNamespaces unnamedNamespaces) {}

/**
 * What administrators write of GPU time: {@link BudgetAdmission} judges budgets, {@link
 * AuthorAdmission} grants and corrections.
 */
@NullMarked
package io.gpusharing.webhook.budget;

import org.jspecify.annotations.NullMarked;

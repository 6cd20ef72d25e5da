/**
 * How people are notified of their budget: {@link BudgetNotifier} writes Events, {@link
 * PodAnnotator} annotates running pods.
 */
@NullMarked
package io.gpusharing.timekeeper.budget.notify;

import org.jspecify.annotations.NullMarked;

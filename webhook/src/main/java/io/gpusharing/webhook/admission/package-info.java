/**
 * From a review to its answer: {@link Admission} has it decided by its kind; {@link
 * DecisionListeners} count, log and report the decision.
 */
@NullMarked
package io.gpusharing.webhook.admission;

import org.jspecify.annotations.NullMarked;

/** From a review to its answer: decides it by its kind, counts and logs the decision. */
@NullMarked
package io.gpusharing.webhook.admission;

import org.jspecify.annotations.NullMarked;

/** What a rollout, which ends old replicas while new ones answer, does to open reviews. */
@NullMarked
package io.gpusharing.webhook.rollout;

import org.jspecify.annotations.NullMarked;

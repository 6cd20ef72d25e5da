/** What the cluster says at this moment: budgets, priority classes, nodes. */
@NullMarked
package io.gpusharing.webhook.standing;

import org.jspecify.annotations.NullMarked;

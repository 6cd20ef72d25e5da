/** What the cluster says at this moment: budgets, priority classes, nodes. */
@NullMarked
package io.gpusharing.webhook.cluster;

import org.jspecify.annotations.NullMarked;

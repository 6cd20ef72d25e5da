/**
 * What the site allows GPU pods: {@link PriorityClassPolicy} chooses a priority class by the
 * standing of the budget, {@link BypassPolicy} finds ways around a share.
 */
@NullMarked
package io.gpusharing.webhook.policy;

import org.jspecify.annotations.NullMarked;

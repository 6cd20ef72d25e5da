/** What the site allows GPU pods: their priority classes, and ways around its limits. */
@NullMarked
package io.gpusharing.webhook.policy;

import org.jspecify.annotations.NullMarked;

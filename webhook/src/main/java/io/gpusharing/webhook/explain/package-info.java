/** What the webhook would say to a manifest, without a cluster. */
@NullMarked
package io.gpusharing.webhook.explain;

import org.jspecify.annotations.NullMarked;

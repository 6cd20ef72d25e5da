/** Refusals as Events, where users look. */
@NullMarked
package io.gpusharing.webhook.events;

import org.jspecify.annotations.NullMarked;

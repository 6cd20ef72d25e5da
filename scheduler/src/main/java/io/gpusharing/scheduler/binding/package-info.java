/** Binds pods, and writes in the same request on which GPUs they run. */
@NullMarked
package io.gpusharing.scheduler.binding;

import org.jspecify.annotations.NullMarked;

/** A review in, an answer out: what is read of a pod, what is decided, how it is told. */
@NullMarked
package io.gpusharing.webhook.admission;

import org.jspecify.annotations.NullMarked;

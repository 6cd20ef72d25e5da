/** Fakes that behave. */
@NullMarked
package io.gpusharing.webhook.testing;

import org.jspecify.annotations.NullMarked;

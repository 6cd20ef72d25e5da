/** Checks and completes pods that ask for GPUs, when the API server asks. */
@NullMarked
package io.gpusharing.webhook;

import org.jspecify.annotations.NullMarked;

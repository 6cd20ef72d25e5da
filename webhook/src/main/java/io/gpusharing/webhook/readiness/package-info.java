/** When this replica may be asked. */
@NullMarked
package io.gpusharing.webhook.readiness;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.gpusharing.webhook.standing;

import org.jspecify.annotations.NullMarked;

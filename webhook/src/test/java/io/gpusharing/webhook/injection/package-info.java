@NullMarked
package io.gpusharing.webhook.injection;

import org.jspecify.annotations.NullMarked;

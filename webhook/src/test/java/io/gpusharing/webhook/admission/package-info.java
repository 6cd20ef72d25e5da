@NullMarked
package io.gpusharing.webhook.admission;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.gpusharing.webhook.tls;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.gpusharing.webhook.http;

import org.jspecify.annotations.NullMarked;

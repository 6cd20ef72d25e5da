/** Takes reviews in over HTTP: limits on length, memory, concurrency and time. */
@NullMarked
package io.gpusharing.webhook.http;

import org.jspecify.annotations.NullMarked;

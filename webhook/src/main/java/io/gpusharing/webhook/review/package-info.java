/** What is read of the API server's question, straight from its bytes. */
@NullMarked
package io.gpusharing.webhook.review;

import org.jspecify.annotations.NullMarked;

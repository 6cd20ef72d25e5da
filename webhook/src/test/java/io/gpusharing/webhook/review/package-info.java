@NullMarked
package io.gpusharing.webhook.review;

import org.jspecify.annotations.NullMarked;

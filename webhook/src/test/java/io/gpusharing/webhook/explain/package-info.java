@NullMarked
package io.gpusharing.webhook.explain;

import org.jspecify.annotations.NullMarked;

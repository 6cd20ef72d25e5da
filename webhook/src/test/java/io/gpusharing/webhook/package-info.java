@NullMarked
package io.gpusharing.webhook;

import org.jspecify.annotations.NullMarked;

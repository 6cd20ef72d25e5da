@NullMarked
package io.gpusharing.webhook.policy;

import org.jspecify.annotations.NullMarked;

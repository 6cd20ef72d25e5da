@NullMarked
package io.gpusharing.webhook.template;

import org.jspecify.annotations.NullMarked;

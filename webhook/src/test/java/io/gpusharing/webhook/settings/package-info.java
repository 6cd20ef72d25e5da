@NullMarked
package io.gpusharing.webhook.settings;

import org.jspecify.annotations.NullMarked;

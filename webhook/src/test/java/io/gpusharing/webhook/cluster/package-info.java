@NullMarked
package io.gpusharing.webhook.cluster;

import org.jspecify.annotations.NullMarked;

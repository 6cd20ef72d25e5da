/** The decision about a new pod. */
@NullMarked
package io.gpusharing.webhook.pod;

import org.jspecify.annotations.NullMarked;

/** What can be decided about an object, and how the API server gets it. */
@NullMarked
package io.gpusharing.webhook.decision;

import org.jspecify.annotations.NullMarked;

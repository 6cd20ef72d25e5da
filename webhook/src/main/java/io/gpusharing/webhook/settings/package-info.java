/**
 * What all parts of an installation share, and what is said of settings that cannot be worked with.
 */
@NullMarked
package io.gpusharing.webhook.settings;

import org.jspecify.annotations.NullMarked;

/** The meter's entry point and its settings. */
@NullMarked
package io.gpusharing.sidecar;

import org.jspecify.annotations.NullMarked;

/** The little JSON that a meter reads and writes. */
@NullMarked
package io.gpusharing.sidecar.json;

import org.jspecify.annotations.NullMarked;

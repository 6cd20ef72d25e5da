/** Knows, to the second, how much GPU time each budget has used. */
@NullMarked
package io.gpusharing.timekeeper;

import org.jspecify.annotations.NullMarked;

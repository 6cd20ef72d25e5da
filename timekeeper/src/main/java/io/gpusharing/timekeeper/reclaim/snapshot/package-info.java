/** The cluster at one instant, as far as reclaim decides by it: values without rules of reclaim. */
@NullMarked
package io.gpusharing.timekeeper.reclaim.snapshot;

import org.jspecify.annotations.NullMarked;

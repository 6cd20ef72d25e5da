/** The cluster at one instant, as far as reclaim decides by it: values without rules of reclaim. */
@NullMarked
package io.gpusharing.scheduler.picture;

import org.jspecify.annotations.NullMarked;

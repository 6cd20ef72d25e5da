/** Where annotations, grants and pods do not agree: found, counted and told. */
@NullMarked
package io.gpusharing.scheduler.drift;

import org.jspecify.annotations.NullMarked;

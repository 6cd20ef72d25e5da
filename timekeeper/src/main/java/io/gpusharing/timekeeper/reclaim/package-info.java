/** Makes room for a pod in budget that the scheduler cannot place, and only then. */
@NullMarked
package io.gpusharing.timekeeper.reclaim;

import org.jspecify.annotations.NullMarked;

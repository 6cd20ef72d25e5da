/**
 * What device plugins and agents of ours find of pods: {@link
 * io.gpusharing.timekeeper.provider.NotStartedCorrector} gives back what pods were charged while
 * they were not let start, {@link io.gpusharing.timekeeper.provider.MemoryEvictionRequester} asks
 * the scheduler's evictor to end those that hold too much GPU memory.
 */
@NullMarked
package io.gpusharing.timekeeper.provider;

import org.jspecify.annotations.NullMarked;

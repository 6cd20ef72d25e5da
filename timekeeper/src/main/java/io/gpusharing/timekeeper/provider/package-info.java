/**
 * Pods that our device plugin did not let start: {@link
 * io.gpusharing.timekeeper.provider.RefusedPodEvictor} ends those that would wait for ever, {@link
 * io.gpusharing.timekeeper.provider.NotStartedCorrector} gives back what they were charged
 * meanwhile.
 */
@NullMarked
package io.gpusharing.timekeeper.provider;

import org.jspecify.annotations.NullMarked;

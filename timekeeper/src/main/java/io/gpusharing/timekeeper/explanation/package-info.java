/**
 * Passes on to the scheduler, which alone knows what is free and who would have to go, what people
 * ask about the place of a pod.
 */
@NullMarked
package io.gpusharing.timekeeper.explanation;

import org.jspecify.annotations.NullMarked;

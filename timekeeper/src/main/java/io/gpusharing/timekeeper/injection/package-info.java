/**
 * Stops the injection of the metering container while its image cannot be pulled: a pod must never
 * wait for its meter.
 */
@NullMarked
package io.gpusharing.timekeeper.injection;

import org.jspecify.annotations.NullMarked;

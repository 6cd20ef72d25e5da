/**
 * Ends pods: carries out what {@code GpuEviction} objects ask for, and says in their status what
 * became of it. Nothing else of GPUSharing evicts or deletes a pod.
 */
@NullMarked
package io.gpusharing.scheduler.evicting;

import org.jspecify.annotations.NullMarked;

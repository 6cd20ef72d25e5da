/**
 * GPUs that pods hold by resource claims (Dynamic Resource Allocation, {@code resource.k8s.io/v1}).
 */
@NullMarked
package io.gpusharing.timekeeper.allocation.claim;

import org.jspecify.annotations.NullMarked;

/**
 * GPUs that pods hold by resource claims (Dynamic Resource Allocation, {@code resource.k8s.io/v1}).
 */
@NullMarked
package io.gpusharing.timekeeper.claims;

import org.jspecify.annotations.NullMarked;

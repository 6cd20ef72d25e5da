/** Measures on real nodes what GPUSharing costs a pod. */
@NullMarked
package io.gpusharing.e2e.measurement;

import org.jspecify.annotations.NullMarked;

/** Whose process it is: pods, containers and devices as the kernel and kubelet name them. */
@NullMarked
package io.gpusharing.sidecar.attribution;

import org.jspecify.annotations.NullMarked;

/** Follows the nodes that share GPUs and the pods that hold them. */
@NullMarked
package io.gpusharing.scheduler.cluster;

import org.jspecify.annotations.NullMarked;

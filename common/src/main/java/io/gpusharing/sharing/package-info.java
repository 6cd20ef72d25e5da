/**
 * What pods ask of physical GPUs, and how they share them: what stands on pods and nodes, and
 * nothing of what is free.
 */
@NullMarked
package io.gpusharing.sharing;

import org.jspecify.annotations.NullMarked;

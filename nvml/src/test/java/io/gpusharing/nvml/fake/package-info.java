/** A stand-in for NVIDIA's management library: behaves, does not recite. */
@NullMarked
package io.gpusharing.nvml.fake;

import org.jspecify.annotations.NullMarked;

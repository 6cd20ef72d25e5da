/** NVIDIA's management library, bound by java.lang.foreign: calls, layouts, return codes. */
@NullMarked
package io.gpusharing.nvml;

import org.jspecify.annotations.NullMarked;

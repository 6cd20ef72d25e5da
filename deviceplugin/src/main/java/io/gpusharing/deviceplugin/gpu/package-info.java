/** The node's physical GPUs: which there are, and which are healthy. */
@NullMarked
package io.gpusharing.deviceplugin.gpu;

import org.jspecify.annotations.NullMarked;

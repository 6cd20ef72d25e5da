/**
 * The vocabulary that every part of GPUSharing shares: values and pure functions, no I/O, no clock.
 */
@NullMarked
package io.gpusharing;

import org.jspecify.annotations.NullMarked;

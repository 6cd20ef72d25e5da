/**
 * From when to when a pod holds which share of a GPU, and at what rate. Pure: values in, values
 * out.
 */
@NullMarked
package io.gpusharing.timekeeper.allocation;

import org.jspecify.annotations.NullMarked;

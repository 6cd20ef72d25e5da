/**
 * From when to when a pod holds which share of a GPU, and at what rate. Pure: values in, values
 * out. {@link PodReader} reads {@link PodFacts} out of a pod's object, which say what it holds;
 * {@link AllocationInterval} says when it begins and ends.
 */
@NullMarked
package io.gpusharing.timekeeper.allocation;

import org.jspecify.annotations.NullMarked;

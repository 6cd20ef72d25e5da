/**
 * Which pods were evicted, for whom and why. {@link EvictionWatch} follows the {@code GpuEviction}
 * objects, {@link EvictionKeeper} writes down what they say and deletes them when nobody needs them
 * any more, {@link EvictionReceipts} shows it to people.
 */
@NullMarked
package io.gpusharing.timekeeper.receipt;

import org.jspecify.annotations.NullMarked;

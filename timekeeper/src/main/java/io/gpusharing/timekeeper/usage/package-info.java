/**
 * What pods really did with their share: reports of sidecars and node agents, beside the charge.
 */
@NullMarked
package io.gpusharing.timekeeper.usage;

import org.jspecify.annotations.NullMarked;

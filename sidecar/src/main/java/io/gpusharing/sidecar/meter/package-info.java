/**
 * What each pod really did with each GPU: how that is measured, the best way that works, and
 * counted.
 */
@NullMarked
package io.gpusharing.sidecar.meter;

import org.jspecify.annotations.NullMarked;

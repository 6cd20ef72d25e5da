/** What each pod really did with each GPU: the ladder of methods and the integral. */
@NullMarked
package io.gpusharing.sidecar.meter;

import org.jspecify.annotations.NullMarked;

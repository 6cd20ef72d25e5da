/** How it is told that something we depend on is away, and that it is back. */
@NullMarked
package io.gpusharing.timekeeper.outage;

import org.jspecify.annotations.NullMarked;

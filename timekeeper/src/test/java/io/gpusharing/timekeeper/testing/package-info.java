/** Fakes that behave, and a real PostgreSQL. */
@NullMarked
package io.gpusharing.timekeeper.testing;

import org.jspecify.annotations.NullMarked;

/** Admission as the API server lives it: real pods, real policies, real neighbours. */
@NullMarked
package io.gpusharing.e2e.admission;

import org.jspecify.annotations.NullMarked;

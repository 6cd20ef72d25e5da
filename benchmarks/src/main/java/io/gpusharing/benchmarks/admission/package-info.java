/** The floor that admission is measured against. */
@NullMarked
package io.gpusharing.benchmarks.admission;

import org.jspecify.annotations.NullMarked;

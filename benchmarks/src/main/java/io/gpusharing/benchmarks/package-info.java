/** JMH measurements of the pure parts. */
@NullMarked
package io.gpusharing.benchmarks;

import org.jspecify.annotations.NullMarked;

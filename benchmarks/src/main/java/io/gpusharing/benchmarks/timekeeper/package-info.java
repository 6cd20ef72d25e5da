/** The timekeeper under load, on an API server of the benchmark's own and a durable PostgreSQL. */
@NullMarked
package io.gpusharing.benchmarks.timekeeper;

import org.jspecify.annotations.NullMarked;

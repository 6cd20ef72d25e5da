/** Elections among replicas, on an API server that knows one lease. */
@NullMarked
package io.gpusharing.timekeeper.leadership;

import org.jspecify.annotations.NullMarked;

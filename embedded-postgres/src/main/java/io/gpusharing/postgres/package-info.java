/** A PostgreSQL server of our own, for one machine outside a cluster. */
@NullMarked
package io.gpusharing.postgres;

import org.jspecify.annotations.NullMarked;

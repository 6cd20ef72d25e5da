/** PostgreSQL: a configured one, or an embedded one for a single machine. */
@NullMarked
package io.gpusharing.timekeeper.database;

import org.jspecify.annotations.NullMarked;

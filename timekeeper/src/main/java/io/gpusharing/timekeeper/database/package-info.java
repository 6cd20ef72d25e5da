/** The connection to PostgreSQL, and what all statements share. */
@NullMarked
package io.gpusharing.timekeeper.database;

import org.jspecify.annotations.NullMarked;

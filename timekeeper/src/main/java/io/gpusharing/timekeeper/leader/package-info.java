/**
 * The election of the replica that does what only one needs to do, and the parts of the timekeeper
 * whose rounds may fail.
 */
@NullMarked
package io.gpusharing.timekeeper.leader;

import org.jspecify.annotations.NullMarked;

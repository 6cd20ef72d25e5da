/**
 * What people read of the past: statements of a budget, an explanation of one second of it, the
 * charges of a pod.
 */
@NullMarked
package io.gpusharing.timekeeper.statement;

import org.jspecify.annotations.NullMarked;

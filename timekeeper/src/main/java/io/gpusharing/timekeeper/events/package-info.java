/** Kubernetes Events: how the timekeeper tells people what happened to their pods and budgets. */
@NullMarked
package io.gpusharing.timekeeper.events;

import org.jspecify.annotations.NullMarked;

/**
 * Which of several replicas does the work that only one needs to do, and how such work runs in the
 * background: {@link LeaderTask}, with {@link OutageLog} for what it depends on and is away.
 */
@NullMarked
package io.gpusharing.timekeeper.leader;

import org.jspecify.annotations.NullMarked;

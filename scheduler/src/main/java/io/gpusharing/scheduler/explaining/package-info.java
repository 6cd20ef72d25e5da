/**
 * Why a pod waits, pure. {@link Explainer} holds a {@link Subject} against a {@link Picture} of the
 * cluster and says it as an {@link Explanation}: {@link Judgement} of each node by the code and in
 * the words of our scheduler, {@link NodesInSum} of all of them, {@link Suggestion} what would fit
 * instead, {@link RoomPlan} who would have to go, which {@link RoomWords} say.
 */
@NullMarked
package io.gpusharing.scheduler.explaining;

import io.gpusharing.wire.Explanation;
import org.jspecify.annotations.NullMarked;

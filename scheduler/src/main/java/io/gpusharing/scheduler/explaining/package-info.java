/**
 * Why a pod waits, pure. {@link Explainer} holds a {@link Subject} against a {@link Picture} of the
 * cluster and says it as an {@link Explanation}: {@link Judgement} by the code and in the words of
 * our scheduler, {@link Suggestion} what would fit instead, {@link RoomPlan} who would have to go.
 */
@NullMarked
package io.gpusharing.scheduler.explaining;

import io.gpusharing.wire.Explanation;
import org.jspecify.annotations.NullMarked;

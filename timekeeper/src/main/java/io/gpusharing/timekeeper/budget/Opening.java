package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import java.time.Instant;
import java.util.Map;

/**
 * A period as it was opened.
 *
 * @param countedFrom its start, or the creation of the budget in its first period
 * @param rolledOver what was left of the last allowance and may still be used
 * @param debt what the last period overran and this one pays
 * @param writtenOff what the last period overran above the cap
 * @param carried what was left of older grants, by uid
 * @param openedAt when this was written down; what is posted later for earlier spans counts here
 */
record Opening(
        Period period,
        Instant countedFrom,
        GpuTime rolledOver,
        GpuTime debt,
        GpuTime writtenOff,
        Map<String, GpuTime> carried,
        Instant openedAt) {}

package io.gpusharing.budget;

/**
 * What a limited budget gives at each period's edge.
 *
 * @param periods where the edges are
 * @param allowance given at each edge
 * @param maxRollover how much of an unused allowance is kept for one more period
 * @param maxDebtPercent how much of an overrun, in percent of the allowance, is charged to the next
 *     period; the rest is written off
 */
public record Terms(
        PeriodRule periods, GpuTime allowance, GpuTime maxRollover, int maxDebtPercent) {}

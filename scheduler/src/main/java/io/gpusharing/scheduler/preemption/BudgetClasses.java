package io.gpusharing.scheduler.preemption;

/**
 * The priorities that admission gives to pods.
 *
 * @param inBudget of those whose budget had time left, unless they chose a class themselves
 * @param overBudget of those whose budget was used up
 */
public record BudgetClasses(int inBudget, int overBudget) {}

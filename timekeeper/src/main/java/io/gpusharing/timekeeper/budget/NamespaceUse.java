package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;

/**
 * What a namespace used of a budget in the present period, and holds now.
 *
 * @param rate micro-GPUs
 */
public record NamespaceUse(String namespace, GpuTime used, long rate) {}

package io.gpusharing.webhook.cluster;

/** What applies to a namespace that no {@code GpuBudget} names. */
public enum UnnamedNamespaces {
    /** No budget applies. */
    Unlimited,
    /** Each gets its own amount; the timekeeper creates a {@code GpuBudget} for it. */
    PerNamespace,
    /** All of them draw on one {@code GpuBudget}, to which the timekeeper adds them. */
    Shared
}

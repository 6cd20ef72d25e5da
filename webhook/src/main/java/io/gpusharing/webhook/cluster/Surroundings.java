package io.gpusharing.webhook.cluster;

import io.gpusharing.request.NodeFacts;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the cluster says at one moment, as far as an admission needs it.
 *
 * @param budgets all published budgets
 * @param classes all priority classes
 * @param nodes what is known of nodes with GPUs
 * @param shared which of them are ours to place pods on
 * @param limits what LimitRanges demand, by namespace
 * @param quotas what ResourceQuotas leave
 * @param reportingCa what injected sidecars trust, PEM; null until it is known, then nothing is
 *     injected
 * @param unpullable image that nobody can pull for now, so that it must not be injected; null if
 *     all is well
 * @param budgetsAway whether budgets cannot be read for now: those that were made since are not
 *     known
 * @param now the moment
 */
public record Surroundings(
        PublishedBudgets budgets,
        PriorityClasses classes,
        Collection<NodeFacts> nodes,
        SharedGpus shared,
        Map<String, ContainerLimits> limits,
        Quotas quotas,
        @Nullable String reportingCa,
        @Nullable String unpullable,
        boolean budgetsAway,
        Instant now) {

    /** While every image can be pulled, no GPU is shared, and there are no quotas. */
    public Surroundings(
            PublishedBudgets budgets,
            PriorityClasses classes,
            Collection<NodeFacts> nodes,
            Map<String, ContainerLimits> limits,
            @Nullable String reportingCa,
            Instant now) {
        this(
                budgets,
                classes,
                nodes,
                SharedGpus.NONE,
                limits,
                Quotas.NONE,
                reportingCa,
                null,
                false,
                now);
    }

    /** Whether a namespace is known to draw on no budget. */
    public boolean unpaid(String namespace) {
        return !budgetsAway && budgets.standingOf(namespace, now).budget() == null;
    }

    /** What LimitRanges and ResourceQuotas of a namespace demand. */
    public Demands demandsIn(String namespace) {
        ContainerLimits found = limits.getOrDefault(namespace, ContainerLimits.NONE);
        List<Quota> counted = quotas.in(namespace);
        return counted.isEmpty() && found.equals(ContainerLimits.NONE)
                ? Demands.NONE
                : new Demands(found, counted);
    }
}

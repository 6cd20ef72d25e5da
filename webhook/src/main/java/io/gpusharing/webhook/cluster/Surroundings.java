package io.gpusharing.webhook.cluster;

import io.gpusharing.request.NodeFacts;
import java.time.Instant;
import java.util.Collection;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the cluster says at one moment, as far as an admission needs it.
 *
 * @param budgets all published budgets
 * @param classes all priority classes
 * @param nodes what is known of nodes with GPUs
 * @param shared which of them are ours to place pods on
 * @param unmetered namespaces whose pods get no metering container, as an administrator wants it
 * @param demands what a namespace demands of pods besides what we do
 * @param reportingCa what injected sidecars trust, PEM; null until it is known, then nothing is
 *     injected
 * @param stopped which image is not injected for now, and where; null if all is well
 * @param budgetsAway whether budgets cannot be read for now: those that were made since are not
 *     known
 * @param now the moment
 */
public record Surroundings(
        PublishedBudgets budgets,
        PriorityClasses classes,
        Collection<NodeFacts> nodes,
        SharedGpus shared,
        Set<String> unmetered,
        Function<String, Demands> demands,
        @Nullable String reportingCa,
        @Nullable StoppedInjection stopped,
        boolean budgetsAway,
        Instant now) {

    /** While every image can be pulled, no GPU is shared, and no namespace demands anything. */
    public Surroundings(
            PublishedBudgets budgets,
            PriorityClasses classes,
            Collection<NodeFacts> nodes,
            @Nullable String reportingCa,
            Instant now) {
        this(
                budgets,
                classes,
                nodes,
                SharedGpus.NONE,
                Set.of(),
                _ -> Demands.NONE,
                reportingCa,
                null,
                false,
                now);
    }

    /** The image that cannot be pulled for pods of a namespace; null if all is well. */
    public @Nullable String unpullableIn(String namespace) {
        return stopped != null && stopped.concerns(namespace) ? stopped.image() : null;
    }

    /** Whether a namespace is known to draw on no budget. */
    public boolean unpaid(String namespace) {
        return !budgetsAway && budgets.standingOf(namespace, now).budget() == null;
    }
}

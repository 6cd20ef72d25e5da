package io.gpusharing.webhook.standing;

import io.gpusharing.request.NodeFacts;
import java.time.Instant;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What the cluster says at one moment, as far as an admission needs it.
 *
 * @param budgets all published budgets
 * @param classes all priority classes
 * @param nodes what is known of nodes with GPUs
 * @param reportingCa what injected sidecars trust, PEM; null until it is known, then nothing is
 *     injected
 * @param now the moment
 */
public record Surroundings(
        Budgets budgets,
        PriorityClasses classes,
        Collection<NodeFacts> nodes,
        @Nullable String reportingCa,
        Instant now) {}

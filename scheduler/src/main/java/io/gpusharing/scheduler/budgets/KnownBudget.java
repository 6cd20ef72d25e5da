package io.gpusharing.scheduler.budgets;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.LeaseSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuBudget} as it was read. What it says may be acted on only where {@link Doubts} has
 * nothing against that.
 *
 * @param generation of the object; 0 if it has none
 * @param line empty if the budget is unlimited, is not understood, or cannot be read
 * @param asOf instant of the status; null before the first one
 * @param paused whether an administrator wants reclaim to leave its pods alone
 * @param byDefault whether namespaces may draw on it that it does not name yet
 * @param readable whether the object could be read; of one that could not, only its namespaces are
 *     known
 */
public record KnownBudget(
        PublishedBudget published,
        long generation,
        Optional<BudgetLine> line,
        @Nullable Instant asOf,
        boolean paused,
        boolean byDefault,
        boolean readable) {

    /**
     * Reads an object.
     *
     * @param now by our clock: what fails then fails here, and not in the middle of a decision
     * @throws RuntimeException if it cannot be read
     */
    static KnownBudget of(GpuBudget object, Instant now) {
        PublishedBudget published = object.published();
        var budget =
                new KnownBudget(
                        published,
                        generation(object),
                        published.line(),
                        published.status() == null
                                ? null
                                : ApiTime.readPresent(published.status().asOf()),
                        isPaused(object),
                        object.isMadeByDefault(),
                        true);
        var _ = budget.standing(now);
        var _ = budget.minimumRun();
        return budget;
    }

    /** A budget of the same namespaces of which nothing else is known. */
    static KnownBudget unreadable(GpuBudget object) {
        List<String> namespaces =
                object.getSpec() == null ? List.of() : object.getSpec().namespaces();
        return new KnownBudget(
                new PublishedBudget(
                        object.getMetadata().getName(),
                        ApiTime.read(object.getMetadata().getCreationTimestamp()),
                        GpuBudgetSpec.monthly(namespaces, null),
                        null),
                generation(object),
                Optional.empty(),
                null,
                isPaused(object),
                object.isMadeByDefault(),
                false);
    }

    private static long generation(GpuBudget object) {
        return requireNonNullElse(object.getMetadata().getGeneration(), 0L);
    }

    private static boolean isPaused(GpuBudget object) {
        return "true"
                .equals(
                        requireNonNullElse(
                                        object.getMetadata().getAnnotations(),
                                        Map.<String, String>of())
                                .get(Names.RECLAIM_PAUSED_ANNOTATION));
    }

    public String name() {
        return published.name();
    }

    /**
     * How it stands at an instant, as its status says; unlimited if it is not understood or cannot
     * be read.
     */
    public Standing standing(Instant now) {
        return line.<Standing>map(it -> it.standingAt(now)).orElseGet(Unlimited::new);
    }

    /** Whether it is used up at an instant, as its status says. */
    public boolean isOver(Instant now) {
        return standing(now) instanceof OverBudget;
    }

    /** Micro-GPUs that its pods held at {@link #asOf}. */
    public long rate() {
        GpuBudgetStatus status = published.status();
        return status == null ? 0 : requireNonNullElse(status.rate(), 0L);
    }

    public OnExhausted onExhausted() {
        return published.spec().onExhausted();
    }

    /** How long a pod of it may run before it may be evicted. */
    public Duration minimumRun() {
        return published.spec().minimumRun();
    }

    /**
     * Whether its status is of an instant that is still to come, because a clock was ahead when it
     * was computed. What it says has not happened yet, and nobody acts on it.
     */
    public boolean isAhead(Instant now) {
        return asOf != null && asOf.isAfter(now.plus(LeaseSettings.SKEW));
    }

    /** Whether its status was computed from the spec that it has now. */
    boolean isOfThisGeneration() {
        GpuBudgetStatus status = published.status();
        return asOf != null
                && status != null
                && status.observedGeneration() != null
                && status.observedGeneration() == generation;
    }
}

package io.gpusharing.webhook.pod;

import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.request.GpuShare;
import io.gpusharing.webhook.cluster.NamespaceStanding;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Warns the creator of a pod that the budget will not last long. */
final class BudgetWarning {

    /** A budget that lasts longer is nobody's concern yet. */
    private static final Duration SOON = Duration.ofHours(1);

    private BudgetWarning() {}

    /**
     * @param least what the pod holds at least
     * @return a warning, if the budget ends within the hour, by what runs already or by this pod
     */
    static Optional<String> warning(NamespaceStanding standing, GpuShare least) {
        if (!(standing.standing() instanceof InBudget left)) {
            return Optional.empty();
        }
        Instant ends = left.exhaustedAt();
        long rate = Math.max(1, Math.max(least.compute(), least.memory()));
        // A hair of a GPU lets a large budget last for longer than there are years.
        long seconds = Math.min(left.remaining().microGpuSeconds() / rate, SOON.toSeconds() + 1);
        Instant alone = standing.asOf().plusSeconds(seconds);
        Instant soonest = ends == null || alone.isBefore(ends) ? alone : ends;
        return soonest.isAfter(standing.asOf().plus(SOON))
                ? Optional.empty()
                : Optional.of(
                        "budget %s has %s GPU-minutes left; at this rate they last until %s at most"
                                .formatted(
                                        standing.budget(),
                                        left.remaining().minutes(),
                                        soonest.truncatedTo(ChronoUnit.SECONDS)));
    }
}

package io.gpusharing.webhook.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.request.GpuShare;
import io.gpusharing.webhook.cluster.NamespaceStanding;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BudgetWarningTest {

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    private static Optional<String> warning(GpuTime left, GpuShare least) {
        return BudgetWarning.warning(
                new NamespaceStanding(
                        "a", new InBudget(left, null), OnExhausted.Observe, NOON, null),
                least);
    }

    @Test
    void whoeverWouldUseItUpWithinTheHourIsTold() {
        assertThat(warning(GpuTime.ofMinutes("15"), GpuShare.whole(1)))
                .hasValueSatisfying(it -> assertThat(it).contains("2026-03-02T12:15:00Z at most"));
    }

    /** It threw, and the review was not answered. */
    @Test
    void aBudgetThatAHairOfAGpuDoesNotUseUpBeforeTheEndOfTimeIsNoConcern() {
        assertThat(warning(new GpuTime(Long.MAX_VALUE), new GpuShare(1, 1))).isEmpty();
    }
}

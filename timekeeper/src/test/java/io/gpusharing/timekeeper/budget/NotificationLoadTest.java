package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.status.Publication;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;

/** Many pods that come at once when little is left. */
class NotificationLoadTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final BudgetProperties PROPERTIES =
            new BudgetProperties(
                    BudgetProperties.UnnamedNamespaces.Unlimited,
                    null,
                    Duration.ofHours(1),
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(30),
                    false,
                    List.of());

    /** A status is written at most a second late, and a second is as exact as a pod's begin is. */
    private static final Duration BOUND = Duration.ofSeconds(2);

    /**
     * Five hundred pods of a GPU each, one GPU-minute left. Admission reads only what was
     * published; the watch's own time comes on top of the bound.
     */
    @ParameterizedTest
    @RandomSeeds(2)
    void noPodAfterTheBoundIsAdmittedInBudget(long seed) {
        Random random = new Random(seed);
        Written budget = TestBudgets.monthly("a", TEN, "1", "team-a");
        var ledger = new TestLedger(TEN, budget);
        ledger.clock.pass(Duration.ofMillis(random.nextInt(3_000)));
        // From a burst to a trickle of ten seconds.
        int pause = random.nextInt(40);
        @Nullable Instant lastInBudget = null;
        int inBudget = 0;
        var published = Publication.of(ledger.budget("a"), ledger.clock.instant());

        for (int i = 0; i < 500; i++) {
            Instant now = ledger.clock.instant();
            if (seenBy(published, budget, now)) {
                lastInBudget = now;
                inBudget++;
            }
            ledger.onUpdate(
                    Pods.waiting("team-a", 100, 0).boundAt(now.truncatedTo(ChronoUnit.SECONDS)));
            published = successor(published, ledger);
            ledger.clock.pass(Duration.ofMillis(random.nextInt(pause + 1)));
        }

        // The burst may have been over within a second.
        ledger.clock.pass(PROPERTIES.statusInterval());
        published = successor(published, ledger);

        Instant end = Objects.requireNonNull(ledger.budget("a").exhaustedAt());
        assertThat(end).isBefore(TEN.plusSeconds(30));
        assertThat(inBudget).isPositive();
        assertThat(lastInBudget).isBeforeOrEqualTo(end.plus(BOUND));
        assertThat(seenBy(published, budget, end.plusSeconds(60))).isFalse();
    }

    private static Publication successor(Publication published, TestLedger ledger) {
        Instant now = ledger.clock.instant();
        BudgetState present = ledger.budget("a");
        Instant due = published.successorDue(present, now, PROPERTIES);
        return due == null || due.isAfter(now) ? published : Publication.of(present, now);
    }

    private static boolean seenBy(Publication published, Written written, Instant now) {
        Budget budget = written.budget();
        return new PublishedBudget(
                                "a",
                                budget.created(),
                                budget.spec(),
                                Publication.document(
                                        published.state(),
                                        published.at(),
                                        published.alerts(),
                                        Optional.empty(),
                                        Optional.empty(),
                                        Optional.empty(),
                                        null))
                        .standingAt(now)
                instanceof InBudget;
    }
}

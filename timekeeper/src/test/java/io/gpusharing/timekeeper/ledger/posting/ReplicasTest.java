package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Two replicas on one database, of which one leads. */
class ReplicasTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final TestLedger leader = new TestLedger(START, monthly("a", START, "100", "team-a"));
    private final TestLedger other = leader.follower();

    private static GpuTime minutes(long minutes) {
        return new GpuTime(minutes * 60_000_000);
    }

    private List<@Nullable String> rows() {
        return leader.database
                .jdbc()
                .sql(
                        """
                        select 'charge ' || charge::text from charge
                        union all select 'allocation ' || pod_allocation::text from pod_allocation
                        union all select 'period ' || budget_period::text from budget_period
                        union all select 'cluster ' || cluster::text from cluster
                        order by 1
                        """)
                .query(String.class)
                .list();
    }

    @Test
    void aReplicaThatDoesNotLeadShowsWhatTheLeaderWritesAndWritesNothing() {
        leader.onUpdate(Pods.waiting("team-a", 100, 60).boundAt(START));
        leader.pass(MINUTE);
        List<@Nullable String> before = rows();

        other.follow();

        assertThat(other.used("a")).isEqualTo(minutes(1));
        assertThat(other.settled()).as("nobody may conclude anything from it").isFalse();
        leader.clock.pass(Duration.ofDays(40));
        other.follow();
        assertThat(other.budget("a").period().start()).isEqualTo("2026-04-01T00:00:00Z");
        assertThat(rows()).isEqualTo(before);
    }

    @Test
    void aCorrectionOfTheLeadersShowsElsewhereWithinHalfAMinute() {
        Pods pod = Pods.waiting("team-a", 100, 60).boundAt(START);
        leader.onUpdate(pod);
        leader.clock.pass(MINUTE);
        leader.onUpdate(pod.finishedAt(START.plus(MINUTE)));
        other.follow();
        leader.corrections()
                .write(
                        new CorrectionOrder(pod.uid(), "a", START, START.plusSeconds(30), 0),
                        "a test",
                        "admin",
                        null);

        leader.clock.pass(Duration.ofSeconds(31));
        other.follow();

        assertThat(other.used("a")).isEqualTo(new GpuTime(30_000_000));
    }

    @Test
    void aNewLeaderChargesWhatHappenedMeanwhileExactly() {
        Pods lives = Pods.waiting("team-a", 100, 60).boundAt(START);
        Pods ends = Pods.waiting("team-a", 100, 60).boundAt(START);
        leader.onUpdate(lives);
        leader.onUpdate(ends);
        leader.pass(MINUTE);
        other.follow();

        // The leader is dead, and the cluster runs on.
        leader.clock.pass(MINUTE);
        Pods ended = ends.finishedAt(START.plusSeconds(90));
        leader.vanished(ends);
        Pods came = Pods.waiting("team-a", 50, 30).boundAt(START.plusSeconds(100));
        other.takeOver();
        other.listed();
        other.onUpdate(came);
        other.removed(ended);
        other.pass(MINUTE);

        assertThat(other.charged(ends)).isEqualTo(new GpuTime(90_000_000));
        assertThat(other.allocation(ends).estimated()).isFalse();
        assertThat(other.used("a")).isEqualTo(new GpuTime(180_000_000 + 90_000_000 + 80 * 500_000));
        assertThat(other.settled()).isTrue();
        assertThat(other.differences()).isEmpty();
    }

    @Test
    void nothingIsPostedOrConcludedBeforeThePodsAreListed() {
        leader.onUpdate(Pods.waiting("team-a", 100, 60).boundAt(START));
        leader.clock.pass(Duration.ofHours(2));
        other.follow();
        List<@Nullable String> before = rows();

        other.takeOver();

        assertThat(other.settled()).isFalse();
        assertThat(rows())
                .as("an hour that is posted now would have to be taken back")
                .isEqualTo(before);
        other.listed();
        other.pass(Duration.ofSeconds(5));
        assertThat(other.settled()).isTrue();
        assertThat(rows()).isNotEqualTo(before);
    }

    @Test
    void aReplicaThatLeadsAgainConcludesNothingFromItsLastTerm() {
        leader.onUpdate(Pods.waiting("team-a", 100, 60).boundAt(START));
        leader.pass(MINUTE);
        assertThat(leader.settled()).isTrue();

        leader.takeOver();

        assertThat(leader.settled()).isFalse();
        leader.listed();
        leader.pass(Duration.ofSeconds(5));
        assertThat(leader.settled()).isTrue();
    }

    @Test
    void aGrantThatANewLeaderObservesLateCountsFromThenOn() {
        var grant = new Given("more", "a", "60", START);
        leader.grants(grant);
        assertThat(leader.budget("a").remaining(START)).contains(GpuTime.ofMinutes("160"));
        other.follow();
        other.takeOver();
        other.listed();

        // Its watch lags behind: for a moment there seems to be no grant.
        other.grants();
        other.clock.pass(Duration.ofSeconds(3));
        other.grants(grant);
        other.pass(MINUTE);

        assertThat(other.budget("a").remaining(other.clock.instant()))
                .contains(GpuTime.ofMinutes("160"));
    }

    @Test
    void aFormerLeaderThatResumesPostsNothingTwice() {
        Pods pod = Pods.waiting("team-a", 100, 60).boundAt(START);
        leader.onUpdate(pod);
        other.follow();
        other.takeOver();
        other.listed();
        leader.clock.pass(Duration.ofHours(1));

        other.onUpdate(pod.finishedAt(START.plus(MINUTE)));
        leader.onUpdate(pod.finishedAt(START.plus(MINUTE)));
        leader.pass(Duration.ofHours(1));

        assertThat(leader.charged(pod)).isEqualTo(minutes(1));
        assertThat(leader.used("a")).isEqualTo(minutes(1));
        assertThat(leader.differences()).isEmpty();
    }
}

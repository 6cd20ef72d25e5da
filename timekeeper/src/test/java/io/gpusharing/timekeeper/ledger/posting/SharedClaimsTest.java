package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.Claimed;
import io.gpusharing.kubernetes.Claimed.ClaimAllocation;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A GPU of a claim that several pods name: it is charged once, while any of them holds it. */
class SharedClaimsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Claimed A_GPU =
            new Claimed(
                    BoundShare.NONE,
                    List.of(
                            new ClaimAllocation(
                                    UUID.randomUUID(),
                                    "shared",
                                    BoundShare.exact(GpuShare.whole(1)))),
                    true);

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods one = pod();
    private final Pods two = pod();

    @AfterEach
    void theLedgerIsSound() {
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void onePodAloneIsChargedForAllOfIt() {
        ledger.onUpdate(one.boundAt(at(1)));
        ledger.pass(Duration.ofMinutes(10));

        ledger.onUpdate(one.boundAt(at(1)).finishedAt(at(9)));

        assertThat(used()).isEqualTo(minutes(8));
    }

    @Test
    void twoPodsAtATimeAreChargedOnce() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(two.boundAt(at(2)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(6)));

        ledger.onUpdate(two.boundAt(at(2)).finishedAt(at(10)));
        ledger.pass(Duration.ofHours(3));

        assertThat(used()).isEqualTo(minutes(10));
        assertThat(ledger.charged(one)).isEqualTo(GpuTime.ZERO);
    }

    @Test
    void itIsChargedOnWhileOneOfThemRuns() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(two.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(1));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(1)));

        ledger.pass(Duration.ofMinutes(119));

        assertThat(used()).isEqualTo(minutes(120));
    }

    @Test
    void aLaterPodIsNotChargedForTheTimeBetween() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(2)));
        ledger.pass(Duration.ofMinutes(30));

        ledger.onUpdate(two.boundAt(at(28)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(two.boundAt(at(28)).finishedAt(at(40)));

        assertThat(used()).isEqualTo(minutes(14));
    }

    /**
     * Before Kubernetes 1.36 nothing distinguishes two allocations of the same device to a claim.
     */
    @Test
    void laterPodsThatShareAClaimAreChargedOnce() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(2)));
        ledger.pass(Duration.ofMinutes(30));
        Pods third = pod();

        ledger.onUpdate(two.boundAt(at(28)));
        ledger.onUpdate(third.boundAt(at(29)));
        ledger.restart();
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(two.boundAt(at(28)).finishedAt(at(38)));
        ledger.onUpdate(third.boundAt(at(29)).finishedAt(at(40)));
        ledger.pass(Duration.ofMinutes(20));
        ledger.onUpdate(pod().boundAt(at(50)));
        ledger.onUpdate(pod().boundAt(at(55)));

        assertThat(used()).isEqualTo(minutes(2 + 12 + 10));
    }

    @Test
    void aPodThatBeganEarlierMayBeObservedLater() {
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(two.boundAt(at(4)));

        ledger.onUpdate(one.boundAt(at(2)));
        ledger.onUpdate(one.boundAt(at(2)).finishedAt(at(10)));
        ledger.onUpdate(two.boundAt(at(4)).finishedAt(at(8)));

        assertThat(used()).isEqualTo(minutes(8));
    }

    @Test
    void chargesBeyondTheEndAreCreditedBack() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.pass(Duration.ofHours(2));

        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(50)));

        assertThat(used()).isEqualTo(minutes(50));
    }

    @Test
    void aRestartedTimekeeperStillHasThePodsOfAClaim() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(two.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(8)));
        ledger.removed(one.boundAt(at(0)).finishedAt(at(8)));

        ledger.restart();
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(two.boundAt(at(0)).finishedAt(at(18)));

        assertThat(used()).isEqualTo(minutes(18));
    }

    @Test
    void aLateEndCountsAfterTheOtherPodsWereForgotten() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(two.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(two.boundAt(at(0)).finishedAt(at(4)));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(8)));
        ledger.removed(one.boundAt(at(0)).finishedAt(at(8)));
        ledger.restart();

        ledger.onUpdate(two.boundAt(at(0)).finishedAt(at(9)));

        assertThat(used()).isEqualTo(minutes(9));
    }

    @Test
    void whenItsPodsVanishUnobservedItsEndIsEstimated() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.onUpdate(two.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.vanished(one);
        ledger.vanished(two);

        ledger.restart();
        ledger.pass(Duration.ofHours(2));

        assertThat(used()).isEqualTo(minutes(10));
        assertThat(ledger.allocation(one).estimated()).isTrue();
    }

    @Test
    void aPodObservedAfterTheOthersWereForgottenDoesNotShortenTheCharge() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(40));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(30)));
        ledger.removed(one.boundAt(at(0)).finishedAt(at(30)));

        ledger.onUpdate(two.boundAt(at(20)).finishedAt(at(25)));
        assertThat(used()).isEqualTo(minutes(30));

        ledger.restart();
        Pods third = pod();
        ledger.onUpdate(third.boundAt(at(20)).finishedAt(at(35)));
        assertThat(used()).isEqualTo(minutes(35));
    }

    @Test
    void aPodWronglyTakenForGoneIsNotChargedBesideItsSuccessor() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.vanished(one);
        ledger.restart();
        ledger.pass(Duration.ofMinutes(20));
        ledger.onUpdate(two.boundAt(at(28)));
        ledger.pass(Duration.ofMinutes(10));
        assertThat(used()).as("by estimate").isEqualTo(minutes(10 + 12));

        ledger.onUpdate(one.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(10));
        assertThat(used()).as("it was there all the time").isEqualTo(minutes(50));

        ledger.onUpdate(two.boundAt(at(28)).finishedAt(at(52)));
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(58)));
        assertThat(used()).isEqualTo(minutes(58));

        ledger.restart();
        ledger.onUpdate(one.boundAt(at(0)).finishedAt(at(55)));
        assertThat(used()).isEqualTo(minutes(55));
    }

    @Test
    void aSweepThatDoesNotFindItEndsNothing() {
        ledger.onUpdate(one.boundAt(at(0)));
        ledger.pass(Duration.ofMinutes(10));

        ledger.sweepFinds();
        ledger.pass(Duration.ofMinutes(10));

        assertThat(used()).isEqualTo(minutes(20));
    }

    @Test
    void nothingBeginsWhileAClaimMayYetBecomeThePods() {
        Pods waits =
                Pods.waiting("team-a", 50, 30)
                        .holding(new Claimed(BoundShare.NONE, List.of(), false))
                        .boundAt(at(0));
        ledger.onUpdate(waits);
        ledger.pass(Duration.ofMinutes(2));
        assertThat(used()).isEqualTo(minutes(0));

        ledger.onUpdate(waits.holding(A_GPU));
        ledger.pass(Duration.ofMinutes(2));

        assertThat(used()).as("from the binding, half and one").isEqualTo(minutes(6));
    }

    /** Whatever is observed late, in another order, twice, or over a kill. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void itIsChargedAsLongAsAnyPodHoldsIt(long seed) {
        var random = new Random(seed);
        var pods = new ArrayList<Pods>();
        int until = 1;
        for (int i = 0; i < 6; i++) {
            int from = i == 0 ? 0 : random.nextInt(until);
            int to = from + 1 + random.nextInt(40);
            until = Math.max(until, to);
            pods.add(pod().boundAt(at(from)).finishedAt(at(to)));
        }
        for (int minute = 0; minute <= until; minute++) {
            for (Pods pod : pods) {
                if (at(minute).equals(pod.scheduled())) {
                    ledger.onUpdate(pod.boundAt(at(minute)));
                }
                if (at(minute).equals(pod.finished()) && random.nextBoolean()) {
                    ledger.onUpdate(pod);
                }
            }
            if (random.nextInt(10) == 0) {
                ledger.restart();
            }
            ledger.pass(Duration.ofMinutes(1));
        }
        pods.forEach(ledger::onUpdate);
        pods.forEach(ledger::removed);

        assertThat(used()).as("seed %d", seed).isEqualTo(minutes(until));
    }

    private static Pods pod() {
        return Pods.waiting("team-a", 0, 0).holding(A_GPU);
    }

    private static Instant at(int minute) {
        return TEN.plus(Duration.ofMinutes(minute));
    }

    private static GpuTime minutes(int minutes) {
        return GpuTime.ofMinutes(Integer.toString(minutes));
    }

    private GpuTime used() {
        return ledger.used("a");
    }
}

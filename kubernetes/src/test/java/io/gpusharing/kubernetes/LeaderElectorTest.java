package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.DURATION;

import io.gpusharing.testing.SteppingClock;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LeaderElectorTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");

    private final FakeLease lease = new FakeLease();
    private final SteppingClock ticks = new SteppingClock(START);
    private final Replica one = new Replica("one", ticks);
    private final Replica two = new Replica("two", ticks);

    LeaderElectorTest() throws IOException {}

    @AfterEach
    void close() {
        lease.close();
    }

    /** A process; its own clock may be wrong. */
    private final class Replica {

        final Leadership leadership = new Leadership(ticks);
        final ApiServerClock clock;
        final LeaderElector elector;

        Replica(String identity, SteppingClock own) {
            clock = new ApiServerClock(own);
            elector =
                    new LeaderElector(
                            lease.client(),
                            new LeaseSettings(
                                    "gpusharing-system",
                                    "gpusharing-timekeeper",
                                    identity,
                                    Duration.ofSeconds(15),
                                    Duration.ofSeconds(10),
                                    Duration.ofDays(1)),
                            leadership,
                            ticks,
                            clock);
        }

        boolean leadsAfterATry() {
            elector.attempt();
            return leadership.leads();
        }
    }

    /** Both try every second. */
    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            ticks.pass(Duration.ofSeconds(1));
            one.elector.attempt();
            two.elector.attempt();
        }
    }

    @Test
    void theFirstReplicaLeadsAtOnceAndRemainsLeader() {
        assertThat(one.leadsAfterATry()).isTrue();
        assertThat(two.leadsAfterATry()).isFalse();

        pass(60);

        assertThat(one.leadership.leads()).isTrue();
        assertThat(one.leadership.term()).isEqualTo(1);
        assertThat(two.leadership.term()).isZero();
    }

    @Test
    void aRenewalIsOneRequest() {
        one.elector.attempt();
        int taken = lease.requests();

        for (int second = 0; second < 10; second++) {
            ticks.pass(Duration.ofSeconds(1));
            one.elector.attempt();
        }

        assertThat(lease.requests() - taken).isEqualTo(10);
    }

    @Test
    void aLeaderThatFindsTheLeaseTakenAtARenewalStopsAtOnce() {
        one.elector.attempt();
        lease.write("two");

        assertThat(one.leadsAfterATry()).isFalse();
        assertThat(lease.holder()).isEqualTo("two");
    }

    @Test
    void aDeletedLeaseIsCreatedAgainWithinTheSameTerm() {
        one.elector.attempt();
        lease.delete();

        assertThat(one.leadsAfterATry()).isTrue();
        assertThat(one.leadership.term()).isEqualTo(1);
        assertThat(lease.holder()).isEqualTo("one");
    }

    @Test
    void aLeaderWhoseAnswerWasLostRecognizesItsOwnLeaseAndContinues() {
        one.elector.attempt();
        lease.away(true);
        one.elector.attempt();
        lease.write("one");
        lease.away(false);

        assertThat(one.leadsAfterATry()).isTrue();
        assertThat(one.leadership.term()).isEqualTo(1);
    }

    @Test
    void afterTheLeadersDeathAnotherLeadsWhenTheLeaseHasRunOut() {
        one.elector.attempt();
        two.elector.attempt();

        ticks.pass(Duration.ofSeconds(14));
        assertThat(two.leadsAfterATry()).isFalse();
        ticks.pass(Duration.ofSeconds(1));
        assertThat(two.leadsAfterATry()).isTrue();

        assertThat(lease.spec().path("leaseTransitions").asInt()).isEqualTo(1);
        assertThat(one.leadsAfterATry()).as("it was only asleep").isFalse();
    }

    @Test
    void aContainerThatIsStartedAgainInTheSamePodLeadsAtOnce() {
        one.elector.attempt();

        assertThat(new Replica("one", ticks).leadsAfterATry()).isTrue();
        assertThat(lease.spec().path("leaseTransitions").asInt()).isZero();
    }

    @Test
    void aLeaderThatStopsReleasesTheLeaseAndAnotherLeadsAtItsNextTry() {
        one.elector.start();
        two.elector.attempt();

        one.elector.stop();

        assertThat(lease.holder()).isEmpty();
        assertThat(one.leadership.leads()).isFalse();
        assertThat(two.leadsAfterATry()).isTrue();
    }

    @Test
    void aReplicaThatCannotBeginLeavesItToAnother() {
        one.leadership.listen(
                () -> {
                    throw new AssertionError("a class that does not load");
                },
                () -> {});

        assertThat(one.leadsAfterATry()).isFalse();
        assertThat(two.leadsAfterATry()).isTrue();

        pass(60);

        assertThat(two.leadership.leads()).isTrue();
        assertThat(two.leadership.term()).isEqualTo(1);
    }

    @Test
    void aReplicaThatDoesNotLeadReleasesNothing() {
        one.elector.attempt();
        two.elector.start();

        two.elector.stop();

        assertThat(lease.holder()).isEqualTo("one");
    }

    @Test
    void ofTwoReplicasThatWriteAtOnceOneLeads() {
        one.elector.attempt();
        lease.write("");
        lease.beforeTheNextWrite(() -> lease.write("two"));

        var three = new Replica("three", ticks);
        assertThat(three.leadsAfterATry()).isFalse();
        assertThat(lease.holder()).isEqualTo("two");
    }

    @Test
    void theTimeOfTheRequestIsNotCountedAsTimeOfTheLease() {
        lease.beforeTheNextWrite(() -> ticks.pass(Duration.ofSeconds(6)));
        one.elector.attempt();

        ticks.pass(Duration.ofSeconds(3));
        assertThat(one.leadership.leads()).isTrue();
        ticks.pass(Duration.ofSeconds(1));
        assertThat(one.leadership.leads()).isFalse();
    }

    @Test
    void aReplacedLeaderDoesNotReleaseItsSuccessorsLease() {
        one.elector.start();
        lease.write("two");

        one.elector.stop();

        assertThat(lease.holder()).isEqualTo("two");
    }

    @Test
    void aLeaderThatCannotReachTheApiServerStopsBeforeAnotherBegins() {
        var calls = new ArrayList<String>();
        one.leadership.listen(() -> calls.add("begins"), () -> calls.add("ends"));
        one.elector.attempt();
        two.elector.attempt();
        lease.away(true);

        pass(9);
        assertThat(one.leadership.leads()).isTrue();
        pass(1);
        assertThat(one.leadership.leads()).isFalse();
        assertThat(calls).as("though nobody answers").containsExactly("begins", "ends");

        lease.away(false);
        one.elector.attempt();
        assertThat(one.leadership.leads()).as("nobody has taken it").isTrue();
        assertThat(one.leadership.term()).isEqualTo(2);
    }

    @Test
    void aReplicaWhoseClockIsAnHourAheadTakesNothingFromALeaderThatIsAlive() {
        var ahead = new SteppingClock(START.plus(Duration.ofHours(1)));
        var fast = new Replica("fast", ahead);
        one.elector.attempt();

        for (int i = 0; i < 60; i++) {
            ticks.pass(Duration.ofSeconds(1));
            one.elector.attempt();
            assertThat(fast.leadsAfterATry()).isFalse();
        }
    }

    /** A replica whose own clock is wrong, beside an API server that dates what it writes. */
    private final class Wrong {

        final SteppingClock own = new SteppingClock(START);
        final Replica replica = new Replica("wrong", own);

        Wrong(int seconds) {
            lease.datesWritesBy(ticks);
            isAheadBy(seconds);
        }

        /** And most of a second, which the API server does not write. */
        void isAheadBy(int seconds) {
            own.set(ticks.instant().plusSeconds(seconds).plusMillis(900));
        }

        void passASecond() {
            ticks.pass(seconds(1));
            own.pass(seconds(1));
            replica.elector.attempt();
        }

        /** By how much what it goes by is ahead. */
        Duration ahead() {
            return Duration.between(ticks.instant(), replica.clock.instant());
        }
    }

    @Test
    void aClockThatIsAheadByLessThanTheSkewIsLeftAlone() {
        var wrong = new Wrong(5);

        assertThat(wrong.replica.leadsAfterATry()).isTrue();
        wrong.passASecond();

        assertThat(wrong.ahead()).isEqualTo(Duration.ofMillis(5_900));
        assertThat(wrong.replica.elector.rounds().failures()).isZero();
    }

    @Test
    void nobodyWorksByAClockThatIsAheadByMore() {
        var wrong = new Wrong(3_600);
        var begun = new ArrayList<Duration>();
        wrong.replica.leadership.listen(() -> begun.add(wrong.ahead()), () -> {});

        assertThat(wrong.replica.leadsAfterATry()).isTrue();
        for (int second = 0; second < 60; second++) {
            wrong.passASecond();
            assertThat(wrong.ahead()).isBetween(seconds(0), seconds(2));
        }

        assertThat(begun).singleElement(DURATION).isLessThan(seconds(2));
        assertThat(wrong.replica.elector.rounds().failing()).isTrue();
        assertThat(wrong.replica.clock.ahead()).isBetween(seconds(3_599), seconds(3_600));
    }

    @Test
    void aClockThatIsSetAheadWhileWeLeadIsPutBackAndLetGoOnceItIsRight() {
        var wrong = new Wrong(0);
        wrong.replica.elector.attempt();

        wrong.isAheadBy(10);
        wrong.passASecond();
        wrong.passASecond();
        assertThat(wrong.ahead()).isBetween(seconds(0), seconds(2));
        assertThat(wrong.replica.elector.rounds().failing()).isTrue();

        wrong.isAheadBy(0);
        wrong.passASecond();
        assertThat(wrong.ahead()).isEqualTo(Duration.ofMillis(900));
        assertThat(wrong.replica.elector.rounds().failing()).isFalse();
        assertThat(wrong.replica.leadership.term()).isEqualTo(1);
    }

    /** The API server writes whole seconds, so that the same clock is ahead by more and by less. */
    @Test
    void aClockThatIsAheadByLittleMoreThanTheSkewDoesNotGoBackAndForth() {
        var wrong = new Wrong(5);
        ticks.pass(Duration.ofMillis(950));
        wrong.own.set(ticks.instant().plusMillis(5_500));
        wrong.replica.elector.attempt();
        Duration ahead = wrong.ahead();
        assertThat(ahead).isLessThan(seconds(1));

        for (int tenth = 0; tenth < 50; tenth++) {
            ticks.pass(Duration.ofMillis(1_100));
            wrong.own.pass(Duration.ofMillis(1_100));
            wrong.replica.elector.attempt();
            assertThat(wrong.ahead()).isEqualTo(ahead);
        }
    }

    @Test
    void aSlowAnswerLetsNoClockGo() {
        var wrong = new Wrong(3_600);
        wrong.replica.elector.attempt();
        Duration ahead = wrong.ahead();
        lease.datesWritesBy(() -> {
            ticks.pass(seconds(7));
            wrong.own.pass(seconds(7));
            return ticks.instant();
        });

        for (int second = 0; second < 5; second++) {
            wrong.passASecond();
            assertThat(wrong.ahead()).isEqualTo(ahead);
        }
    }

    @Test
    void whoFollowsSeesItByTheLeadersRenewals() {
        lease.datesWritesBy(ticks);
        two.elector.attempt();
        var wrong = new Wrong(3_600);
        for (int second = 0; second < 3; second++) {
            wrong.passASecond();
            two.elector.attempt();
        }

        assertThat(wrong.ahead()).isBetween(seconds(-1), seconds(2));
        assertThat(wrong.replica.elector.rounds().failing()).isTrue();
        assertThat(two.leadership.leads()).isTrue();
        assertThat(two.clock.ahead()).isLessThanOrEqualTo(Duration.ZERO);
    }

    @Test
    void aClockThatIsBehindIsShownAndLeftAlone() {
        var wrong = new Wrong(-3_600);
        wrong.replica.elector.attempt();
        wrong.passASecond();

        assertThat(wrong.ahead()).isBetween(seconds(-3_600), seconds(-3_599));
        assertThat(wrong.replica.clock.ahead()).isNegative();
        assertThat(wrong.replica.elector.rounds().failures()).isZero();
    }

    @Test
    void anApiServerThatDatesNoWritesSaysNothingOfClocks() {
        var fast = new Replica("fast", new SteppingClock(START.plus(Duration.ofHours(1))));

        assertThat(fast.leadsAfterATry()).isTrue();
        assertThat(fast.clock.ahead()).isZero();
    }

    /** The first is the truth, and from then on it is older each time. */
    @Test
    void neitherDoesOneThatKeepsTheTimeOfTheFirstWrite() {
        lease.datesWritesBy(() -> START);
        one.elector.attempt();
        pass(60);

        assertThat(one.clock.ahead()).isLessThanOrEqualTo(Duration.ZERO);
        assertThat(two.clock.ahead()).isLessThanOrEqualTo(Duration.ZERO);
        assertThat(one.elector.rounds().failures()).isZero();
    }

    private static Duration seconds(int seconds) {
        return Duration.ofSeconds(seconds);
    }
}

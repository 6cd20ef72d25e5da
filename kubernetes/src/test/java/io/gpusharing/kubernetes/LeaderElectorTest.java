package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

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
        final LeaderElector keeper;

        Replica(String identity, SteppingClock clock) {
            keeper =
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

        boolean leadsAfterALook() {
            keeper.attempt();
            return leadership.leads();
        }
    }

    /** Both look every second. */
    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            ticks.pass(Duration.ofSeconds(1));
            one.keeper.attempt();
            two.keeper.attempt();
        }
    }

    @Test
    void whoComesFirstLeadsAtOnceAndStaysSo() {
        assertThat(one.leadsAfterALook()).isTrue();
        assertThat(two.leadsAfterALook()).isFalse();

        pass(60);

        assertThat(one.leadership.leads()).isTrue();
        assertThat(one.leadership.term()).isEqualTo(1);
        assertThat(two.leadership.term()).isZero();
    }

    @Test
    void aRenewalIsOneRequest() {
        one.keeper.attempt();
        int taken = lease.requests();

        for (int second = 0; second < 10; second++) {
            ticks.pass(Duration.ofSeconds(1));
            one.keeper.attempt();
        }

        assertThat(lease.requests() - taken).isEqualTo(10);
    }

    @Test
    void whoFindsItTakenWhenItWouldRenewItStopsAtOnce() {
        one.keeper.attempt();
        lease.write("two");

        assertThat(one.leadsAfterALook()).isFalse();
        assertThat(lease.holder()).isEqualTo("two");
    }

    @Test
    void aLeaseThatSomebodyDeletedIsMadeAgainWithinTheSameTerm() {
        one.keeper.attempt();
        lease.delete();

        assertThat(one.leadsAfterALook()).isTrue();
        assertThat(one.leadership.term()).isEqualTo(1);
        assertThat(lease.holder()).isEqualTo("one");
    }

    @Test
    void whoseAnswerWasLostFindsItsOwnLeaseAndGoesOn() {
        one.keeper.attempt();
        lease.away(true);
        one.keeper.attempt();
        lease.write("one");
        lease.away(false);

        assertThat(one.leadsAfterALook()).isTrue();
        assertThat(one.leadership.term()).isEqualTo(1);
    }

    @Test
    void afterTheLeadersDeathAnotherLeadsWhenTheLeaseHasRunOut() {
        one.keeper.attempt();
        two.keeper.attempt();

        ticks.pass(Duration.ofSeconds(14));
        assertThat(two.leadsAfterALook()).isFalse();
        ticks.pass(Duration.ofSeconds(1));
        assertThat(two.leadsAfterALook()).isTrue();

        assertThat(lease.spec().path("leaseTransitions").asInt()).isEqualTo(1);
        assertThat(one.leadsAfterALook()).as("it was only asleep").isFalse();
    }

    @Test
    void aContainerThatIsStartedAgainInTheSamePodLeadsAtOnce() {
        one.keeper.attempt();

        assertThat(new Replica("one", ticks).leadsAfterALook()).isTrue();
        assertThat(lease.spec().path("leaseTransitions").asInt()).isZero();
    }

    @Test
    void whoStopsGivesItBackAndTheOtherLeadsWithItsNextLook() {
        one.keeper.start();
        two.keeper.attempt();

        one.keeper.stop();

        assertThat(lease.holder()).isEmpty();
        assertThat(one.leadership.leads()).isFalse();
        assertThat(two.leadsAfterALook()).isTrue();
    }

    @Test
    void whoDoesNotLeadGivesNothingBack() {
        one.keeper.attempt();
        two.keeper.start();

        two.keeper.stop();

        assertThat(lease.holder()).isEqualTo("one");
    }

    @Test
    void ofTwoThatWriteAtOnceOneLeads() {
        one.keeper.attempt();
        lease.write("");
        lease.beforeTheNextWrite(() -> lease.write("two"));

        var three = new Replica("three", ticks);
        assertThat(three.leadsAfterALook()).isFalse();
        assertThat(lease.holder()).isEqualTo("two");
    }

    @Test
    void howLongTheAnswerTookIsNotTheLeadersTime() {
        lease.beforeTheNextWrite(() -> ticks.pass(Duration.ofSeconds(6)));
        one.keeper.attempt();

        ticks.pass(Duration.ofSeconds(3));
        assertThat(one.leadership.leads()).isTrue();
        ticks.pass(Duration.ofSeconds(1));
        assertThat(one.leadership.leads()).isFalse();
    }

    @Test
    void whoHasNotNoticedThatAnotherLeadsDoesNotGiveBackThatOnesLease() {
        one.keeper.start();
        lease.write("two");

        one.keeper.stop();

        assertThat(lease.holder()).isEqualTo("two");
    }

    @Test
    void whoCannotReachTheApiServerStopsBeforeAnotherBegins() {
        var told = new ArrayList<String>();
        one.leadership.listen(() -> told.add("begins"), () -> told.add("ends"));
        one.keeper.attempt();
        two.keeper.attempt();
        lease.away(true);

        pass(9);
        assertThat(one.leadership.leads()).isTrue();
        pass(1);
        assertThat(one.leadership.leads()).isFalse();
        assertThat(told).as("though nobody answers").containsExactly("begins", "ends");

        lease.away(false);
        one.keeper.attempt();
        assertThat(one.leadership.leads()).as("nobody has taken it").isTrue();
        assertThat(one.leadership.term()).isEqualTo(2);
    }

    @Test
    void aReplicaWhoseClockIsAnHourAheadTakesNothingFromALeaderThatIsAlive() {
        var ahead = new SteppingClock(START.plus(Duration.ofHours(1)));
        var fast = new Replica("fast", ahead);
        one.keeper.attempt();

        for (int i = 0; i < 60; i++) {
            ticks.pass(Duration.ofSeconds(1));
            one.keeper.attempt();
            assertThat(fast.leadsAfterALook()).isFalse();
        }
    }
}

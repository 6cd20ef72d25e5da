package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LeaseHolderTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");

    private final SteppingClock clock = new SteppingClock(NOON);
    private @Nullable String holder = "scheduler-a_b1946ac9-2c66-4f3d";
    private boolean away;
    private Duration slowly = Duration.ZERO;
    private int asked;

    private final LeaseHolder lease = lease("gpusharing-scheduler");

    private LeaseHolder lease(String name) {
        return new LeaseHolder(
                new LeaseProperties("gpusharing-system", name, "scheduler-a"), this::read, clock);
    }

    private @Nullable String read() {
        asked++;
        clock.pass(slowly);
        if (away) {
            throw new KubernetesClientException("the API server is away");
        }
        return holder;
    }

    @Test
    void whoseNeighbourHoldsTheLeaseWorksAndLooksSeldom() {
        assertThat(lease.whyNot()).isEmpty();
        clock.pass(Duration.ofMillis(1_999));
        assertThat(lease.whyNot()).isEmpty();
        assertThat(asked).isEqualTo(1);

        clock.pass(Duration.ofMillis(1));
        assertThat(lease.whyNot()).isEmpty();
        assertThat(asked).isEqualTo(2);
    }

    @Test
    void whoStoodStillLearnsThatAnotherOneLeadsBeforeItDoesAnything() {
        assertThat(lease.whyNot()).isEmpty();
        holder = "scheduler-b_5891b5b5-22d5-4f3d";
        clock.pass(Duration.ofSeconds(17));

        assertThat(lease.whyNot())
                .contains("another scheduler leads: scheduler-b_5891b5b5-22d5-4f3d");
    }

    @Test
    void aNameThatOnlyBeginsAlikeIsAnother() {
        for (String other : new String[] {"scheduler-a2_1", "scheduler-a_b_1", "scheduler-a", ""}) {
            holder = other;
            clock.pass(Duration.ofSeconds(3));
            assertThat(lease.whyNot()).as(other).isPresent();
        }
        holder = null;
        clock.pass(Duration.ofSeconds(3));
        assertThat(lease.whyNot()).isPresent();
    }

    @Test
    void nothingIsDoneWhileNobodyKnowsWhoLeads() {
        away = true;
        assertThat(lease.whyNot()).contains("the lease cannot be read: the API server is away");
    }

    @Test
    void aClockThatIsSetBackMakesNothingGoodForLonger() {
        assertThat(lease.whyNot()).isEmpty();
        holder = "scheduler-b_1";
        clock.set(NOON.minusSeconds(3_600));

        assertThat(lease.whyNot()).isPresent();
    }

    @Test
    void aYesThatTookLongIsWorthNothing() {
        slowly = Duration.ofSeconds(2);

        assertThat(lease.whyNot()).contains("the lease was read too slowly");
        slowly = Duration.ZERO;
        assertThat(lease.whyNot()).isEmpty();
    }

    @Test
    void whoWaitedForANoIsNotKeptWaitingAgain() {
        away = true;
        slowly = Duration.ofSeconds(2);

        assertThat(lease.whyNot()).isPresent();
        assertThat(lease.whyNot()).isPresent();
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void whereThereIsOneSchedulerAloneNothingIsLookedAt() {
        assertThat(lease("").whyNot()).isEmpty();
        assertThat(asked).isZero();
    }
}

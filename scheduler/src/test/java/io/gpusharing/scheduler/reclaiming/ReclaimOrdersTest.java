package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.reclaiming.TwoTeams.TEN;
import static io.gpusharing.scheduler.reclaiming.TwoTeams.answered;
import static io.gpusharing.scheduler.reclaiming.TwoTeams.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.reclaiming.TwoTeams.Replica;
import io.gpusharing.scheduler.reservation.Reservations;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code GpuEviction} objects as fence, as memory, and as the end of what is kept for a waiter. */
class ReclaimOrdersTest {

    private static final String ANOTHER = "7b1f0d0c-4f83-4a0e-9d3b-1f0a4f6b1c2d";
    private static final String FIRST = "/gpuevictions/reclaim-000001";

    private final TwoTeams teams = new TwoTeams();

    @AfterEach
    void stop() {
        teams.close();
    }

    private List<String> names() {
        return teams.orders().stream().map(it -> it.getMetadata().getName()).toList();
    }

    /** One plan has been written, and its replica knows it. */
    private Replica ordered() {
        Replica replica = teams.replica();
        replica.work(0);
        replica.sees(teams.orders().getFirst());
        return replica;
    }

    /** Another object, of that name. */
    private static GpuEviction other(String name, String cause) {
        var object = new GpuEviction();
        object.setMetadata(new ObjectMetaBuilder().withName(name).build());
        var victim =
                new Victim(
                        "team-c", "gone", ANOTHER, "gpu-1", null, null, null, "why", null, null,
                        null);
        object.setSpec(new Spec(cause, "gpu-1", List.of(victim), null, null, null));
        return stored(object, TEN.minusSeconds(60));
    }

    @Test
    void anOrderSaysWhoGoesForWhomAndWhy() {
        teams.replica().work(0);

        GpuEviction order = teams.orders().getFirst();
        assertThat(order.getMetadata().getName()).isEqualTo("reclaim-000001");
        assertThat(order.getStatus()).isNull();
        assertThat(order.getSpec().cause()).isEqualTo("Reclaim");
        assertThat(order.getSpec().node()).isEqualTo("gpu-1");
        assertThat(order.getSpec().waiter())
                .isEqualTo(
                        new GpuEviction.Waiter(
                                "team-b",
                                "w",
                                teams.waiter(),
                                "team-b",
                                teams.waiter(),
                                "2026-03-02T09:55:00Z"));
        assertThat(order.getSpec().victims())
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.budget()).isEqualTo("team-a");
                    assertThat(it.standing()).isEqualTo("OverBudget");
                    assertThat(it.why()).startsWith("budget team-a is over by");
                    assertThat(it.cost()).isEqualTo(1_200_000_000L);
                    assertThat(it.refusedSince()).isNull();
                });
    }

    @Test
    void beforeAllEvictionsAreKnownNobodyIsToGo() {
        Replica replica = teams.replica();
        var fresh = teams.new Replica(Leadership.alone(), null);

        fresh.work(0);

        assertThat(teams.attempts()).isZero();
        replica.work(0);
        assertThat(teams.attempts()).isEqualTo(1);
    }

    @Test
    void ofTwoThatPlanFromOneReadingOneWritesItAndTheOtherPlansAnew() {
        Replica one = teams.replica();
        Replica other = teams.replica();
        one.work(0);
        other.work(0);
        assertThat(names()).containsExactly("reclaim-000001");
        assertThat(teams.attempts()).isEqualTo(2);

        other.work(1);
        assertThat(teams.attempts()).as("its watch does not show the other's yet").isEqualTo(2);

        other.sees(teams.orders().getFirst());
        other.work(2);
        assertThat(teams.attempts()).as("it has time to settle").isEqualTo(2);
        other.work(160);
        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }

    /** The reservations of a leader that is stopped as soon as it has written one. */
    private Reservations stoppedAfterKeeping(Runnable meanwhile) {
        return new Reservations(teams.api.client(), new UnreadableObjects(teams.unread::add)) {
            @Override
            public boolean keep(GpuReservation reservation, BooleanSupplier leads) {
                boolean kept = super.keep(reservation, leads);
                meanwhile.run();
                return kept;
            }
        };
    }

    /** The reservations of a leader that is stopped when it knows what is kept. */
    private Reservations stoppedBeforeKeeping(Runnable meanwhile) {
        return new Reservations(teams.api.client(), new UnreadableObjects(teams.unread::add)) {
            @Override
            public boolean keep(GpuReservation reservation, BooleanSupplier leads) {
                return super.keep(
                        reservation,
                        () -> {
                            boolean led = leads.getAsBoolean();
                            meanwhile.run();
                            return led;
                        });
            }
        };
    }

    private void assertTheNextLeadersRoomIsKept() {
        assertThat(names()).containsExactly("reclaim-000001");
        assertThat(teams.attempts()).as("of the next leader alone").isEqualTo(1);
        assertThat(teams.reservations())
                .last()
                .asString()
                .contains("\"until\":\"%s\"".formatted(TEN.plusSeconds(95)));
    }

    @Test
    void aLeaderThatWasStoppedBeforeItsReservationDoesNotOverwriteTheNextLeaders() {
        teams.theOnlyGpuIs("Healthy");
        Replica next = teams.replica();
        Replica stopped =
                teams.replica(Leadership.alone(), stoppedBeforeKeeping(() -> next.work(5)));

        stopped.work(0);

        assertThat(teams.reservations()).hasSize(1);
        assertTheNextLeadersRoomIsKept();
    }

    @Test
    void norDoesOneThatFoundRoomOfBefore() {
        teams.theOnlyGpuIs("Healthy");
        killedAfterKeeping();
        Replica next = teams.replica();
        Replica stopped =
                teams.replica(Leadership.alone(), stoppedBeforeKeeping(() -> next.work(5)));

        stopped.work(0);

        assertThat(teams.reservations()).hasSize(2);
        assertTheNextLeadersRoomIsKept();
    }

    private void killedAfterKeeping() {
        Replica killed =
                teams.replica(
                        Leadership.alone(),
                        stoppedAfterKeeping(() -> {
                            throw new IllegalStateException("killed");
                        }));
        assertThatThrownBy(() -> killed.work(0)).hasMessage("killed");
        assertThat(teams.attempts()).isZero();
    }

    @Test
    void whoLeadsNoMoreKeepsNoRoom() {
        teams.theOnlyGpuIs("Healthy");
        var terms = new Terms();
        terms.begin();
        Replica next = teams.replica();
        var reservations =
                new Reservations(teams.api.client(), new UnreadableObjects(teams.unread::add)) {
                    @Override
                    public boolean keep(GpuReservation reservation, BooleanSupplier leads) {
                        terms.end();
                        next.work(5);
                        return super.keep(reservation, leads);
                    }
                };
        Replica stopped = teams.replica(terms.leadership(), reservations);

        stopped.work(0);

        assertThat(teams.reservations()).hasSize(1);
        assertTheNextLeadersRoomIsKept();
    }

    /** After a kill between the two the next round completes what was begun. */
    @Test
    void roomWithoutAPlanIsReplacedByTheNextPlans() {
        teams.theOnlyGpuIs("Healthy");
        killedAfterKeeping();

        teams.replica().work(5);

        assertThat(teams.reservations()).hasSize(2);
        assertTheNextLeadersRoomIsKept();
    }

    @Test
    void aLeaderThatWasStoppedBetweenReservationAndOrderMeetsTheNextLeadersOrder() {
        teams.theOnlyGpuIs("Healthy");
        Replica next = teams.replica();
        Replica stopped =
                teams.replica(Leadership.alone(), stoppedAfterKeeping(() -> next.work(0)));

        stopped.work(0);

        assertThat(names()).containsExactly("reclaim-000001");
        assertThat(teams.attempts()).isEqualTo(2);
        assertThat(teams.reservations())
                .hasSize(2)
                .allMatch(it -> it.contains("\"until\":\"%s\"".formatted(TEN.plusSeconds(90))));
    }

    @Test
    void whoLeadsNoMoreAfterTheReservationOrdersNothing() {
        teams.theOnlyGpuIs("Healthy");
        var terms = new Terms();
        terms.begin();
        Replica stopped = teams.replica(terms.leadership(), stoppedAfterKeeping(terms::end));

        stopped.work(0);

        assertThat(teams.attempts()).isZero();
        teams.replica().work(1);
        assertThat(names()).containsExactly("reclaim-000001");
    }

    @Test
    void untilItsOwnOrderIsSeenAReplicaPlansNothing() {
        Replica replica = teams.replica();
        replica.work(0);

        replica.work(1);
        replica.work(400);
        assertThat(teams.attempts()).isEqualTo(1);

        replica.sees(teams.orders().getFirst());
        replica.work(401);
        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }

    @Test
    void anOrderThatSomebodyDeletedAtOnceIsNotWaitedForForEver() {
        Replica replica = teams.replica();
        replica.work(0);

        teams.api.refuse(FIRST, 404);
        replica.work(1);

        assertThat(teams.attempts()).isEqualTo(2);
    }

    @Test
    void anObjectThatCannotBeReadHasItsNumberAndStopsNoRound() {
        Replica replica = teams.replica();
        replica.sees(other("reclaim-000006", "Reclaim"));
        replica.sees(other("reclaim-000007", "WhatALaterVersionKnows"));

        replica.work(0);

        assertThat(teams.unread).extracting(Unreadable::name).containsExactly("reclaim-000007");
        assertThat(names()).containsExactly("reclaim-000008");
    }

    @Test
    void namesThatAreNoNumbersOfOursCountNothing() {
        Replica replica = teams.replica();
        replica.sees(other("reclaim-99", Cause.Reclaim.name()));
        replica.sees(other("reclaim-9999999999999999999", Cause.Reclaim.name()));
        replica.sees(other("memory-000099", Cause.MemoryOveruse.name()));

        replica.work(0);

        assertThat(names()).containsExactly("reclaim-000001");
    }

    @Test
    void whatNobodyCarriesOutIsInVainOnceItShouldHaveSettled() {
        Replica replica = ordered();

        replica.work(1);
        assertThat(replica.left("settling")).isEqualTo(1);
        replica.work(91);
        assertThat(replica.left("backing_off")).isEqualTo(1);
        assertThat(teams.attempts()).isEqualTo(1);

        replica.work(151);

        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }

    @Test
    void whoGoesAlreadyIsNotChosenForAnother() {
        Replica replica = teams.replica();
        replica.work(0);
        GpuEviction order = teams.orders().getFirst();
        GpuEviction.Spec spec = order.getSpec();
        order.setSpec(
                new Spec(
                        spec.cause(),
                        spec.node(),
                        spec.victims(),
                        new GpuEviction.Waiter("team-b", "another", ANOTHER, null, null, null),
                        spec.settlesAt(),
                        null));
        replica.sees(order);

        replica.work(1);

        assertThat(replica.left("freeing")).isEqualTo(1);
        assertThat(teams.attempts()).isEqualTo(1);
    }

    @Test
    void aNewLeaderBacksOffByWhatTheObjectsSay() {
        teams.replica().work(0);
        GpuEviction vain =
                answered(
                        teams.orders().getFirst(),
                        Phase.Done,
                        Result.Evicted,
                        new Outcome(false, "it still waited", "2026-03-02T10:01:30Z"));
        Replica next = teams.replica();
        next.sees(vain);

        next.work(92);
        assertThat(next.left("backing_off")).isEqualTo(1);
        assertThat(teams.attempts()).isEqualTo(1);

        next.work(151);
        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }

    @Test
    void whatTheEvictorDidNotDoIsNotAskedForAgainAtOnce() {
        teams.replica().work(0);
        Replica next = teams.replica();
        next.sees(answered(teams.orders().getFirst(), Phase.NotDone, Result.Spared, null));

        next.work(92);

        assertThat(next.left("backing_off")).isEqualTo(1);
        assertThat(teams.attempts()).isEqualTo(1);
    }

    @Test
    void whoWasHelpedMayBeHelpedAgain() {
        Replica replica = teams.replica();
        replica.work(0);
        replica.sees(
                answered(
                        teams.orders().getFirst(),
                        Phase.Done,
                        Result.Evicted,
                        new Outcome(true, "it was bound", "2026-03-02T10:00:20Z")));

        replica.work(40);

        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }

    private void aDisruptionBudgetKeepsIt() {
        teams.api.answer(
                "/poddisruptionbudgets",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"namespace": "team-a", "name": "b"},
                  "spec": {"selector": {"matchLabels": {"gpusharing.io/metered": "true"}}}, "status": {"disruptionsAllowed": 0}}]}
                """);
    }

    @Test
    void whomTheApiServerHasRefusedForLongEnoughIsToBeDeleted() {
        teams.properties = TwoTeams.insistingAfter(Duration.ofMinutes(10));
        aDisruptionBudgetKeepsIt();
        Replica replica = teams.replica();
        replica.work(0);
        replica.sees(answered(teams.orders().getFirst(), Phase.Refused, Result.Refused, null));
        assertThat(refusedSince()).isNull();

        replica.work(300);
        assertThat(replica.left("kept")).isEqualTo(1);
        assertThat(teams.attempts()).isEqualTo(1);

        // A new leader knows it, too.
        Replica next = teams.replica();
        next.sees(answered(teams.orders().getFirst(), Phase.Refused, Result.Refused, null));
        next.work(600);

        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
        assertThat(refusedSince()).isEqualTo(TEN.toString());
    }

    private @Nullable String refusedSince() {
        return teams.orders().getLast().getSpec().victims().getFirst().refusedSince();
    }

    @Test
    void whomTheApiServerRefusedIsNotAskedForAgainAtOnce() {
        Replica replica = teams.replica();
        replica.work(0);
        replica.sees(answered(teams.orders().getFirst(), Phase.Refused, Result.Refused, null));

        replica.work(2);
        replica.work(59);
        assertThat(teams.attempts()).isEqualTo(1);

        replica.work(61);
        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }

    @Test
    void whereNobodyWentInTheEndNothingIsKept() {
        teams.theOnlyGpuIs("Healthy");
        Replica replica = teams.replica();
        replica.work(0);
        teams.api.store(teams.reservation(), kept());
        replica.sees(answered(teams.orders().getFirst(), Phase.Refused, Result.Refused, null));

        replica.work(2);
        replica.work(3);

        assertThat(teams.reservations())
                .hasSize(2)
                .last()
                .asString()
                .contains("\"until\":\"%s\"".formatted(TEN.plusSeconds(2)))
                .contains("\"resourceVersion\":\"77\"", "\"GPU-0\"", teams.victim());
    }

    /** What was written last, as the API server stores it. */
    private String kept() {
        return teams.reservations()
                .getLast()
                .replaceFirst("\"metadata\":\\{", "\"metadata\":{\"resourceVersion\":\"77\",");
    }

    @Test
    void aNewLeaderReleasesWhatWasKeptInVainAndOnlyOnce() {
        teams.theOnlyGpuIs("Healthy");
        teams.replica().work(0);
        teams.api.store(teams.reservation(), kept());
        GpuEviction gone = answered(teams.orders().getFirst(), Phase.NotDone, Result.Gone, null);
        Replica next = teams.replica();
        next.sees(gone);

        next.work(2);
        assertThat(teams.reservations()).hasSize(2);

        teams.api.store(teams.reservation(), kept());
        Replica third = teams.replica();
        third.sees(gone);
        third.work(3);
        assertThat(teams.reservations()).hasSize(2);
    }

    @Test
    void whatIsKeptByAnotherPlanForTheSameWaiterStays() {
        teams.theOnlyGpuIs("Healthy");
        Replica replica = teams.replica();
        replica.work(0);
        teams.api.store(
                teams.reservation(),
                kept().replace(TEN.plusSeconds(90).toString(), TEN.plusSeconds(95).toString()));
        replica.sees(answered(teams.orders().getFirst(), Phase.Refused, Result.Refused, null));

        replica.work(2);

        assertThat(teams.reservations()).hasSize(1);
    }

    @Test
    void whileSomebodyGoesTheRoomIsKept() {
        teams.theOnlyGpuIs("Healthy");
        Replica replica = ordered();
        teams.api.store(teams.reservation(), kept());

        replica.work(2);
        replica.sees(answered(teams.orders().getFirst(), Phase.Done, Result.Evicted, null));
        replica.work(3);

        assertThat(teams.reservations()).hasSize(1);
    }

    @Test
    void whatTheApiServerDoesNotTakeKeepsNoRoom() {
        teams.theOnlyGpuIs("Healthy");
        teams.api.refuse("/gpuevictions", 403);
        Replica replica =
                teams.replica(
                        Leadership.alone(),
                        stoppedAfterKeeping(() -> teams.api.store(teams.reservation(), kept())));

        replica.work(0);

        assertThat(teams.reservations())
                .hasSize(2)
                .last()
                .asString()
                .contains("\"until\":\"%s\"".formatted(TEN));
        assertThat(replica.left("not_written")).isEqualTo(1);
    }

    @Test
    void withTwiceAsManyObjectsAsAreKeptNobodyIsToGo() {
        Replica replica = teams.replica();
        for (int i = 0; i <= 2 * GpuEviction.MOST; i++) {
            replica.sees(other("memory-" + i, Cause.MemoryOveruse.name()));
        }

        replica.work(0);

        assertThat(teams.attempts()).isZero();
        assertThat(teams.reservations()).isEmpty();
        assertThat(replica.left("not_written")).isEqualTo(1);
    }

    @Test
    void evictionsOfLongAgoHaveNoBearing() {
        teams.replica().work(0);
        GpuEviction old = answered(teams.orders().getFirst(), Phase.Done, Result.Evicted, null);
        Replica replica = teams.replica();
        replica.sees(stored(old, TEN.minus(Duration.ofDays(3))));

        replica.work(2);

        assertThat(names()).containsExactly("reclaim-000001", "reclaim-000002");
    }
}

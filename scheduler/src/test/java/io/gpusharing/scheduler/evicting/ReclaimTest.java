package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.away;
import static io.gpusharing.scheduler.evicting.FakeCluster.deletion;
import static io.gpusharing.scheduler.evicting.FakeCluster.eviction;
import static io.gpusharing.scheduler.evicting.FakeCluster.inEarnest;
import static io.gpusharing.scheduler.evicting.FakeCluster.refusal;
import static io.gpusharing.scheduler.evicting.FakeCluster.writing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans of the timekeeper: the requests to the API server, their order, and what answers mean. */
class ReclaimTest extends EvictingTest {

    private static final Predicate<Request> ANY_EVICTION = it -> it.path().endsWith("/eviction");

    @BeforeEach
    void aWaiterAndTwoVictims() {
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
    }

    private List<String> asked() {
        return cluster.to(ANY_EVICTION).stream().map(Request::body).toList();
    }

    @Test
    void everyVictimIsDryRunAndThePlanIsWrittenBeforeAnyIsEvicted() {
        reclaim("reclaim-000001", victim("a"), victim("b"));

        round();

        assertBecame("reclaim-000001", "Done", "Evicted", "Evicted");
        assertThat(asked()).hasSize(4);
        assertThat(asked().subList(0, 2)).allMatch(it -> it.contains("\"dryRun\":[\"All\"]"));
        assertThat(asked().subList(2, 4)).noneMatch(it -> it.contains("dryRun"));
        assertThat(cluster.to(ANY_EVICTION.or(it -> it.method().equals("PUT"))))
                .extracting(Request::method)
                .containsExactly("POST", "POST", "PUT", "POST", "POST", "PUT");
        assertThat(status("reclaim-000001").plannedAt()).isEqualTo("2026-03-02T10:00:00Z");
        assertThat(evictions("reclaim", "evicted")).isEqualTo(2);
        assertThat(registry.counter("gpusharing.evictions.cost").count()).isEqualTo(6);
    }

    @Test
    void nothingIsEvictedOnceAnotherReplicaLeads() {
        var terms = new Terms();
        terms.begin();
        replica = replica(terms.leadership(), registry);
        reclaim("reclaim-000001", victim("a"));
        cluster.on(
                ANY_EVICTION,
                request -> {
                    terms.end();
                    return null;
                });

        round();

        assertThat(asked()).hasSize(1).allMatch(it -> it.contains("dryRun"));
        assertThat(cluster.stored("reclaim-000001").getStatus()).isNull();
        assertThat(events()).isEmpty();
    }

    @Test
    void aReplicaThatDoesNotLeadAsksNothing() {
        replica = replica(new Terms().leadership(), registry);
        reclaim("reclaim-000001", victim("a"));

        round();

        assertThat(cluster.requests).isEmpty();
    }

    /**
     * 422: an annotation that came with its binding is not valid, so nothing can be written on it.
     */
    @ParameterizedTest
    @ValueSource(ints = {422, 429})
    void nothingIsEvictedWhenOneVictimMayNotGo(int code) {
        cluster.on(eviction("b"), refusal(code));
        reclaim("reclaim-000001", victim("a"), victim("b"));

        round();
        roundAfter(Duration.ofMinutes(1));

        assertBecame("reclaim-000001", "Refused", "Spared", "Refused");
        assertThat(status("reclaim-000001").victims())
                .first()
                .extracting(Answer::detail)
                .as("whose pod the other one is may be nothing for who reads it")
                .isEqualTo("another victim may not go");
        assertThat(status("reclaim-000001").refusedSince()).isEqualTo("2026-03-02T10:00:00Z");
        assertThat(asked())
                .as("the planner plans anew")
                .hasSize(2)
                .allMatch(it -> it.contains("dryRun"));
        assertThat(events()).isEmpty();
    }

    @Test
    void aVictimRefusedForTooLongIsDeletedWithItsGraceAndGetsAnEvent() {
        cluster.on(eviction("a"), refusal(429));
        reclaim("reclaim-000001", insisting("a"), victim("b"));

        round();

        assertBecame("reclaim-000001", "Done", "Deleted", "Evicted");
        assertThat(cluster.to(deletion("a")))
                .singleElement()
                .extracting(Request::body)
                .asString()
                .contains("\"uid\":\"%s\"".formatted(FakeCluster.uid("a")))
                .doesNotContain("gracePeriodSeconds");
        assertThat(events())
                .anyMatch(it ->
                        it.contains(
                                "Deleted, although that was refused since 2026-03-02T09:50:00Z (a PodDisruptionBudget does not let it go now), to make room on gpu-1 for team-b/w"));
    }

    @Test
    void aVictimThatMayBeEvictedAfterAllIsNotDeleted() {
        reclaim("reclaim-000001", insisting("a"));

        round();

        assertBecame("reclaim-000001", "Done", "Evicted");
        assertThat(cluster.to(deletion("a"))).isEmpty();
    }

    @Test
    void aVictimRefusedOnlyAfterTheDryRunIsNotDeleted() {
        cluster.on(inEarnest("a"), refusal(429));
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "Refused", "Refused");
        assertThat(cluster.to(deletion("a"))).isEmpty();
        assertThat(events()).isEmpty();
    }

    @Test
    void withoutTheRightToDeleteTheVictimRemains() {
        cluster.on(eviction("a"), refusal(429));
        cluster.on(deletion("a"), refusal(403));
        reclaim("reclaim-000001", insisting("a"));

        round();

        assertBecame("reclaim-000001", "Refused", "Refused");
        assertThat(events()).isEmpty();
    }

    /** 409: the pod of that name is another one by now. */
    @ParameterizedTest
    @ValueSource(ints = {404, 409})
    void aPodThatIsGoneAlreadyIsNoFailure(int code) {
        cluster.on(eviction("a"), refusal(code));
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "NotDone", "Gone");
        assertThat(status("reclaim-000001").reason()).isEqualTo("nobody was there any more");
        assertThat(events()).isEmpty();
    }

    @Test
    void aVictimThatWentByItselfKeepsNobodyElse() {
        cluster.remove("team-a/a");
        reclaim("reclaim-000001", victim("a"), victim("b"));

        round();

        assertBecame("reclaim-000001", "Done", "Gone", "Evicted");
    }

    @Test
    void anotherPodOfTheVictimsNameIsLeftAlone() {
        cluster.pod("team-a", "a").withObject("metadata").put("uid", "another");
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "NotDone", "Gone");
        assertThat(asked()).isEmpty();
    }

    @Test
    void onlyTheChosenPodIsEvicted() {
        reclaim("reclaim-000001", victim("a"));

        round();

        assertThat(asked())
                .allMatch(it -> it.contains("\"uid\":\"%s\"".formatted(FakeCluster.uid("a"))));
    }

    @Test
    void anErrorOfTheApiServerIsNoRefusal() {
        cluster.on(eviction("a"), refusal(500));
        reclaim("reclaim-000001", victim("a"));

        round();

        assertThat(cluster.stored("reclaim-000001").getStatus()).isNull();
        cluster.asUsual();
        roundAfter(Duration.ofSeconds(5));
        assertBecame("reclaim-000001", "Done", "Evicted");
    }

    @Test
    void whileTheApiServerIsAwayNothingIsRecordedAndItIsTriedAgain() {
        cluster.on(eviction("a"), away());
        reclaim("reclaim-000001", victim("a"));
        reclaim("reclaim-000002", victim("b"));

        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        roundAfter(Duration.ofSeconds(1));

        assertThat(cluster.stored("reclaim-000001").getStatus()).isNull();
        assertBecame("reclaim-000002", "Done", "Evicted");
        cluster.asUsual();
        roundAfter(Duration.ofSeconds(6));
        assertBecame("reclaim-000001", "Done", "Evicted");
    }

    @Test
    void oneThatAlwaysFailsAndOneThatCannotBeReadStopNoOther() {
        cluster.on(eviction("a"), refusal(500));
        reclaim("reclaim-000000", victim("odd"));
        cluster.on(it -> it.path().endsWith("/pods/odd"), _ -> FakeApiServer.Answer.ok("no pod"));
        reclaim("reclaim-000001", victim("a"));
        reclaim("reclaim-000002", victim("../../secrets"));
        cluster.store("later-000001", "{\"cause\": \"Idle\", \"node\": \"n\", \"victims\": []}");
        reclaim("reclaim-000003", victim("b"));

        round();

        assertBecame("reclaim-000003", "Done", "Evicted");
        assertThat(unreadable.present())
                .extracting(it -> it.name())
                .containsExactlyInAnyOrder("reclaim-000002", "later-000001");
    }

    @Test
    void aLongGraceIsCappedAndAShortOneIsLeftAlone() {
        cluster.pod("team-a", "a").withObject("spec").put("terminationGracePeriodSeconds", 3600);
        reclaim("reclaim-000001", victim("a"), victim("b"));

        round();

        assertThat(asked().getFirst()).contains("\"gracePeriodSeconds\":60");
        assertThat(asked().getLast()).doesNotContain("gracePeriodSeconds");
    }

    @Test
    void aPodDeletedWithAYearsGraceIsEvictedLikeAnyOther() {
        cluster.pod("team-a", "a")
                .withObject("metadata")
                .put("deletionTimestamp", "2027-03-02T09:00:00Z")
                .put("deletionGracePeriodSeconds", 31_536_000);
        reclaim("reclaim-000001", victim("a"));

        round();

        assertThat(asked().getLast())
                .contains("\"gracePeriodSeconds\":60")
                .doesNotContain("dryRun");
        assertBecame("reclaim-000001", "Done", "Evicted");
    }

    @Test
    void aPodThatEndsWithinTheLongestGraceIsLeftToThat() {
        cluster.pod("team-a", "a")
                .withObject("metadata")
                .put("deletionTimestamp", "2026-03-02T10:01:00Z");
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "NotDone", "Gone");
        assertThat(asked()).isEmpty();
    }

    @Test
    void victimAndWaiterGetEvents() {
        reclaim("reclaim-000001", victim("a"));

        round();

        assertThat(events())
                .satisfiesExactly(
                        it ->
                                assertThat(it)
                                        .contains("\"reason\":\"Reclaimed\"")
                                        .contains("gpusharing-scheduler")
                                        .contains(
                                                "Evicted to make room on gpu-1 for team-b/w, which is in budget: budget team-a is over"),
                        it ->
                                assertThat(it)
                                        .contains("\"reason\":\"RoomMade\"")
                                        .contains(
                                                "1 pod(s) of budgets that are used up were evicted from gpu-1"));
    }

    @Test
    void anEventThatCannotBeWrittenChangesNothing() {
        cluster.on(it -> it.path().endsWith("/events"), refusal(500));
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "Done", "Evicted");
    }

    @Test
    void oneThatIsExemptedMeanwhileStaysAndSoDoTheOthers() {
        cluster.pod("team-a", "b")
                .withObject("metadata")
                .withObject("annotations")
                .put("gpusharing.io/do-not-reclaim", "true");
        reclaim("reclaim-000001", victim("a"), victim("b"));

        round();

        assertBecame("reclaim-000001", "NotDone", "Spared", "Spared");
        assertThat(status("reclaim-000001").reason())
                .isEqualTo("team-a/b is exempted by an administrator");
        assertThat(asked()).isEmpty();
        assertThat(evictions("reclaim", "spared")).isEqualTo(2);
    }

    @Test
    void wholeNamespacesAreExemptedToo() {
        cluster.exempt("team-a");
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "NotDone", "Spared");
    }

    @Test
    void ofAGangTheNamespaceIsReadOnce() {
        reclaim("reclaim-000001", victim("a"), victim("b"));

        round();

        assertThat(cluster.to(it -> it.path().equals("/api/v1/namespaces/team-a"))).hasSize(1);
    }

    @Test
    void aPodOnAnotherNodeThanThePlanSaysStays() {
        cluster.bind("team-a/a", "gpu-2");
        reclaim("reclaim-000001", victim("a"));

        round();

        assertBecame("reclaim-000001", "NotDone", "Spared");
        assertThat(status("reclaim-000001").reason()).isEqualTo("team-a/a is not on gpu-1");
    }

    @Test
    void whatIsTakenBackWhileItIsAskedIsNotDone() {
        reclaim("reclaim-000001", victim("a"));
        cluster.evictions().forEach(replica.watch()::onUpdate);
        replica.watch().onListed();
        cluster.withdraw("reclaim-000001");

        replica.evictor().round();

        assertThat(asked()).isEmpty();
    }

    @Test
    void whatIsTakenBackAfterTheDryRunIsNotDoneEither() {
        reclaim("reclaim-000001", victim("a"));
        cluster.on(
                ANY_EVICTION,
                request -> {
                    cluster.withdraw("reclaim-000001");
                    return null;
                });

        round();

        assertThat(cluster.ended).isEmpty();
    }

    @Test
    void aPlanThatWasChangedMeanwhileIsNotCarriedOut() {
        reclaim("reclaim-000001", victim("a"));
        cluster.on(writing("Planned"), refusal(409));

        round();

        assertThat(cluster.ended).isEmpty();
        assertThat(events()).isEmpty();
    }

    @Test
    void nobodyGoesOnceItIsTooLate() {
        reclaim("reclaim-000001", victim("a"));

        roundAfter(Duration.between(TEN, SETTLES));

        assertBecame("reclaim-000001", "NotDone", "Spared");
        assertThat(status("reclaim-000001").reason()).isEqualTo("it was too late");
        assertThat(asked()).isEmpty();
    }

    @Test
    void nobodyGoesForAWaiterThatNeedsNoRoomAnyMore() {
        cluster.bind("team-b/w", "gpu-2");
        reclaim("reclaim-000001", victim("a"));
        round();
        cluster.remove("team-b/w");
        reclaim("reclaim-000002", victim("a"));
        round();

        assertBecame("reclaim-000001", "NotDone", "Spared");
        assertBecame("reclaim-000002", "NotDone", "Spared");
        assertThat(asked()).isEmpty();
    }

    @Test
    void whateverAWebhookSaysFitsIntoTheStatus() {
        cluster.on(eviction("a"), request -> FakeApiServer.Answer.status(403, "no".repeat(5_000)));
        reclaim("reclaim-000001", victim("a"));

        round();

        assertThat(status("reclaim-000001").victims())
                .singleElement()
                .satisfies(it -> assertThat(it.detail()).hasSize(1024));
    }

    @Test
    void theWaitersBindingIsTheOutcome() {
        reclaim("reclaim-000001", victim("a"));
        round();
        assertThat(status("reclaim-000001").outcome()).isNull();
        cluster.bind("team-b/w", "gpu-1");

        roundAfter(Duration.ofSeconds(3));

        assertThat(status("reclaim-000001").outcome())
                .satisfies(it -> {
                    assertThat(it.helped()).isTrue();
                    assertThat(it.detail()).isEqualTo("the waiter was bound to gpu-1");
                    assertThat(it.at()).isEqualTo("2026-03-02T10:00:03Z");
                });
        assertBecame("reclaim-000001", "Done", "Evicted");
        assertThat(registry.counter("gpusharing.evictions.rooms", "helped", "true").count())
                .isEqualTo(1);
        int requests = cluster.requests.size();
        roundAfter(Duration.ofMinutes(5));
        assertThat(cluster.requests).as("nothing is left to do").hasSize(requests);
    }

    @Test
    void aWaiterThatWaitsOnIsAnOutcomeToo() {
        reclaim("reclaim-000001", victim("a"));
        round();

        roundAfter(Duration.between(TEN, SETTLES));

        assertThat(status("reclaim-000001").outcome())
                .satisfies(it ->
                        assertThat(it.detail())
                                .isEqualTo("the waiter still waited at 2026-03-02T10:02:00Z"));
        assertThat(registry.counter("gpusharing.evictions.rooms", "helped", "false").count())
                .isEqualTo(1);
    }
}

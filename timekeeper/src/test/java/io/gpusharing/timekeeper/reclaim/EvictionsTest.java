package io.gpusharing.timekeeper.reclaim;

import static io.gpusharing.timekeeper.reclaim.Cluster.NOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import io.gpusharing.timekeeper.reclaim.Evictions.Answer;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests to the API server, their order, and what the answers mean. */
class EvictionsTest {

    private FakeApiServer api;
    private Evictions evictions;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        evictions = new Evictions(api.client(), Duration.ofSeconds(60));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private List<String> evictions() {
        return api.to("/eviction").stream().map(Asked::body).toList();
    }

    private List<String> events() {
        return api.to("/events").stream().map(Asked::body).toList();
    }

    private static Evict plan(Victim... victims) {
        Waiter waiter = Cluster.pod("team-b", "w").waiting(Duration.ofMinutes(1));
        return new Evict(waiter, "n1", List.of(victims), List.of());
    }

    private static Victim victim(String name, Duration grace) {
        return new Victim(
                new PodRef("uid-" + name, "team-a", name),
                "n1",
                "team-a",
                name,
                "budget team-a is over",
                0,
                grace,
                null);
    }

    private static Victim insisting(String name) {
        Victim it = victim(name, SHORT);
        return new Victim(
                it.pod(),
                it.node(),
                it.budget(),
                it.gang(),
                it.why(),
                0,
                SHORT,
                NOON.minusSeconds(600));
    }

    private static final Duration SHORT = Duration.ofSeconds(30);

    @Test
    void everyVictimIsDryRunBeforeAnyIsEvicted() {
        Map<String, Answer> answers =
                evictions.carryOut(plan(victim("a", SHORT), victim("b", SHORT)), () -> true, NOON);

        assertThat(answers.values()).extracting(Answer::result).containsOnly(Result.Evicted);
        assertThat(evictions()).hasSize(4);
        assertThat(evictions().subList(0, 2)).allMatch(it -> it.contains("\"dryRun\":[\"All\"]"));
        assertThat(evictions().subList(2, 4)).noneMatch(it -> it.contains("dryRun"));
    }

    @Test
    void nothingIsEvictedOnceAnotherReplicaLeads() {
        assertThat(evictions.carryOut(plan(victim("a", SHORT)), () -> false, NOON)).isEmpty();

        assertThat(evictions()).hasSize(1).allMatch(it -> it.contains("dryRun"));
        assertThat(events()).isEmpty();
    }

    /**
     * 422: an annotation that came with its binding is not valid, so nothing can be written on it.
     */
    @ParameterizedTest
    @ValueSource(ints = {422, 429})
    void nothingIsEvictedWhenOneVictimMayNotGo(int code) {
        api.refuse("/pods/b/eviction", code);

        Map<String, Answer> answers =
                evictions.carryOut(plan(victim("a", SHORT), victim("b", SHORT)), () -> true, NOON);

        assertThat(answers.get("uid-b")).extracting(Answer::result).isEqualTo(Result.Refused);
        assertThat(answers.get("uid-a"))
                .isEqualTo(new Answer(Result.Spared, "team-a/b may not go"));
        assertThat(evictions()).hasSize(2).allMatch(it -> it.contains("dryRun"));
        assertThat(events()).isEmpty();
    }

    @Test
    void aVictimRefusedForTooLongIsDeletedWithItsGraceAndGetsAnEvent() {
        api.refuse("/pods/a/eviction", 429);

        Map<String, Answer> answers =
                evictions.carryOut(plan(insisting("a"), victim("b", SHORT)), () -> true, NOON);

        assertThat(answers)
                .extractingByKey("uid-a")
                .extracting(Answer::result)
                .isEqualTo(Result.Deleted);
        assertThat(answers)
                .extractingByKey("uid-b")
                .extracting(Answer::result)
                .isEqualTo(Result.Evicted);
        assertThat(api.to("/namespaces/team-a/pods/a"))
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.method()).isEqualTo("DELETE");
                    assertThat(it.body())
                            .contains("\"uid\":\"uid-a\"")
                            .doesNotContain("gracePeriodSeconds");
                });
        assertThat(events())
                .anyMatch(it ->
                        it.contains(
                                "Deleted, although that was refused since 2026-03-02T11:50:00Z"));
    }

    @Test
    void aVictimThatMayBeEvictedAfterAllIsNotDeleted() {
        Map<String, Answer> answers = evictions.carryOut(plan(insisting("a")), () -> true, NOON);

        assertThat(answers).containsEntry("uid-a", new Answer(Result.Evicted, ""));
        assertThat(api.to("/namespaces/team-a/pods/a")).isEmpty();
    }

    @Test
    void aVictimRefusedOnlyAfterTheDryRunIsNotDeleted() {
        api.refuseInEarnest("/pods/a/eviction", 429);

        Map<String, Answer> answers =
                evictions.carryOut(plan(victim("a", SHORT)), () -> true, NOON);

        assertThat(answers.get("uid-a")).extracting(Answer::result).isEqualTo(Result.Refused);
        assertThat(api.to("/namespaces/team-a/pods/a")).isEmpty();
        assertThat(events()).isEmpty();
    }

    @Test
    void withoutTheRightToDeleteTheVictimRemains() {
        api.refuse("/pods/a/eviction", 429);
        api.refuse("/pods/a", 403);

        Map<String, Answer> answers = evictions.carryOut(plan(insisting("a")), () -> true, NOON);

        assertThat(answers)
                .extractingByKey("uid-a")
                .extracting(Answer::result)
                .isEqualTo(Result.Refused);
        assertThat(events()).isEmpty();
    }

    /** 409: the pod of that name is another one by now. */
    @ParameterizedTest
    @ValueSource(ints = {404, 409})
    void aPodThatIsGoneAlreadyIsNoFailure(int code) {
        api.refuse("/pods/a/eviction", code);

        assertThat(evictions.carryOut(plan(victim("a", SHORT)), () -> true, NOON))
                .containsEntry("uid-a", new Answer(Result.Gone, "it was gone already"));
        assertThat(events()).isEmpty();
    }

    @Test
    void anErrorOfTheApiServerIsNoRefusal() {
        api.refuse("/pods/a/eviction", 500);

        assertThatThrownBy(() -> evictions.carryOut(plan(victim("a", SHORT)), () -> true, NOON))
                .isInstanceOf(KubernetesClientException.class);
    }

    @Test
    void onlyTheChosenPodIsEvicted() {
        evictions.carryOut(plan(victim("a", SHORT)), () -> true, NOON);

        assertThat(evictions()).allMatch(it -> it.contains("\"uid\":\"uid-a\""));
    }

    @Test
    void aLongGraceIsCappedAndAShortOneIsLeftAlone() {
        evictions.carryOut(
                plan(victim("a", Duration.ofHours(1)), victim("b", SHORT)), () -> true, NOON);

        assertThat(evictions().getFirst()).contains("\"gracePeriodSeconds\":60");
        assertThat(evictions().getLast()).doesNotContain("gracePeriodSeconds");
    }

    @Test
    void victimAndWaiterGetEvents() {
        evictions.carryOut(plan(victim("a", SHORT)), () -> true, NOON);

        assertThat(events())
                .satisfiesExactly(
                        it ->
                                assertThat(it)
                                        .contains("\"reason\":\"Reclaimed\"")
                                        .contains("team-b/w")
                                        .contains("budget team-a is over"),
                        it -> assertThat(it).contains("\"reason\":\"RoomMade\""));
    }
}

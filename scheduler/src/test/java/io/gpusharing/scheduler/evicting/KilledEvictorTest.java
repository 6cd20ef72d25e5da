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
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Replicas that end, or stand still, between two steps. */
class KilledEvictorTest extends EvictingTest {

    private static final String PLAN = "reclaim-000001";
    private static final Duration SOON = Duration.ofSeconds(10);

    @BeforeEach
    void aPlanForTwo() {
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
    }

    /** At such a request the replica is killed; another one takes over ten seconds later. */
    private void killedAt(Predicate<Request> request, boolean isCarriedOut) {
        cluster.once(request, isCarriedOut ? cluster.answerLost() : away());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        cluster.asUsual();
        replica = replica(Leadership.alone(), registry);
    }

    private List<Request> askedInEarnest() {
        return cluster.to(inEarnest("a").or(inEarnest("b")));
    }

    @Test
    void whereThePlanWasWrittenAndNobodyAskedTheyAreAskedNow() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(writing("Planned"), true);
        assertBecame(PLAN, "Planned");

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        assertThat(askedInEarnest()).hasSize(2);
        assertThat(status(PLAN).plannedAt()).as("the first one").isEqualTo(TEN.toString());
    }

    @Test
    void whereThePlanCouldNotBeWrittenNobodyWasAsked() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(writing("Planned"), false);
        assertThat(cluster.stored(PLAN).getStatus()).isNull();
        assertThat(askedInEarnest()).isEmpty();

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
    }

    @Test
    void whoWasAskedForBeforeTheAnswerCameIsEvictedOnceAndToldOnce() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(inEarnest("a"), true);

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        assertThat(status(PLAN).victims())
                .extracting(Answer::detail)
                .containsExactly("no answer came, and it ends", null);
        assertThat(askedInEarnest()).hasSize(2);
        assertThat(cluster.ended).containsExactly("a", "b");
        assertThat(events()).as("a, b and the waiter").hasSize(3);
        assertThat(evictions("reclaim", "evicted")).isEqualTo(2);
    }

    @Test
    void whereSomeWereAskedTheOthersAre() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(inEarnest("b"), false);

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        assertThat(cluster.ended).containsExactly("a", "b");
        assertThat(events()).as("a, b and the waiter").hasSize(3);
    }

    @Test
    void whatBecameOfThemIsWrittenOnceAlsoIfThatWasLost() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(writing("Done"), false);
        assertBecame(PLAN, "Planned");

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        assertThat(askedInEarnest()).hasSize(2);
        assertThat(events()).hasSize(3);
    }

    @Test
    void whatWasWrittenAndNotAnsweredIsNotWrittenAgain() {
        reclaim(PLAN, victim("a"));
        killedAt(writing("Done"), true);
        String version = cluster.stored(PLAN).getMetadata().getResourceVersion();

        roundAfter(SOON);

        assertThat(cluster.stored(PLAN).getMetadata().getResourceVersion()).isEqualTo(version);
        assertThat(cluster.ended).containsExactly("a");
    }

    @Test
    void whoIsGoneWithoutATraceWasEvicted() {
        reclaim(PLAN, victim("a"));
        killedAt(inEarnest("a"), true);
        cluster.remove("team-a/a");

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted");
        assertThat(status(PLAN).victims())
                .extracting(Answer::detail)
                .containsExactly("no answer came, and it is gone");
    }

    @Test
    void whoEndsOtherwiseWasNotEvicted() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(writing("Planned"), true);
        cluster.disrupt("team-a/a", "DeletionByTaintManager");

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Gone", "Evicted");
    }

    @Test
    void whoSaysThatHeWasEvictedBeforeThePlanWasNotByIt() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(writing("Planned"), true);
        cluster.disrupt("team-a/a", "EvictionByEvictionAPI");
        cluster.backdate("team-a/a", TEN.minusSeconds(6));

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Gone", "Evicted");
    }

    @Test
    void whoWasDeletedBeforeTheAnswerCameSaysSoByOurOwnMark() {
        cluster.on(eviction("a"), refusal(429));
        reclaim(PLAN, insisting("a"));
        cluster.once(deletion("a"), cluster.answerLost());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        assertBecame(PLAN, "Planned", "Deleted");
        replica = replica(Leadership.alone(), registry);

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Deleted");
        assertThat(cluster.to(deletion("a"))).hasSize(1);
        assertThat(events()).anyMatch(it -> it.contains("Deleted, although that was refused"));
    }

    @Test
    void whoWasMarkedAndNotDeletedIsAskedAgain() {
        cluster.on(eviction("a"), refusal(429));
        reclaim(PLAN, insisting("a"));
        cluster.once(deletion("a"), away());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        cluster.asUsual();
        replica = replica(Leadership.alone(), registry);

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted");
        assertThat(cluster.ended).containsExactly("a");
    }

    @Test
    void whoIsExemptedMeanwhileStaysAlthoughAnotherWent() {
        reclaim(PLAN, victim("a"), victim("b"));
        killedAt(inEarnest("b"), false);
        cluster.pod("team-a", "b")
                .withObject("metadata")
                .withObject("annotations")
                .put("gpusharing.io/do-not-reclaim", "true");

        roundAfter(SOON);

        assertBecame(PLAN, "Done", "Evicted", "Spared");
    }

    @Test
    void whoIsFoundTooLateIsNotAskedAnyMore() {
        reclaim(PLAN, victim("a"));
        killedAt(writing("Planned"), true);

        roundAfter(Duration.between(TEN, SETTLES));

        assertBecame(PLAN, "NotDone", "Spared");
        assertThat(cluster.ended).isEmpty();
    }

    static Stream<Arguments> steps() {
        return Stream.of(
                        eviction("a"),
                        writing("Planned"),
                        inEarnest("a"),
                        inEarnest("b"),
                        writing("Done"))
                .flatMap(step -> Stream.of(Arguments.of(step, true), Arguments.of(step, false)));
    }

    /**
     * A leader that is stopped at a step, as on a machine that hangs, while another one takes over,
     * and that then goes on; it may even believe that it leads still.
     */
    @ParameterizedTest
    @MethodSource("steps")
    void aLeaderThatWasStoppedAndGoesOnEndsNobodyTwiceAndLeavesOneReceipt(
            Predicate<Request> step, boolean knows) throws InterruptedException {
        reclaim(PLAN, victim("a"), victim("b"));
        var terms = new Terms();
        terms.begin();
        var ofTheOther = new SimpleMeterRegistry();
        Replica stopped = replica(terms.leadership(), registry);
        var hangs = new CountDownLatch(1);
        var goesOn = new CountDownLatch(1);
        cluster.once(
                step,
                request -> {
                    hangs.countDown();
                    awaitIt(goesOn);
                    return null;
                });
        cluster.evictions().forEach(stopped.watch()::onUpdate);
        stopped.watch().onListed();
        var failure = new AtomicReference<Throwable>();
        Thread first =
                Thread.ofVirtual()
                        .uncaughtExceptionHandler((_, problem) -> failure.set(problem))
                        .start(stopped.evictor()::round);
        awaitIt(hangs);

        if (knows) {
            terms.end();
        }
        round(replica(Leadership.alone(), ofTheOther));
        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        goesOn.countDown();
        assertThat(first.join(Duration.ofSeconds(20))).isTrue();

        assertThat(failure).hasNullValue();
        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        assertThat(cluster.evictions()).hasSize(1);
        assertThat(cluster.ended).containsExactlyInAnyOrder("a", "b");
        assertThat(events()).as("a, b and the waiter").hasSize(3);
        assertThat(
                        evictions("reclaim", "evicted")
                                + ofTheOther
                                        .counter(
                                                "gpusharing.evictions",
                                                "cause",
                                                "reclaim",
                                                "result",
                                                "evicted")
                                        .count())
                .isEqualTo(2);
    }

    private static void awaitIt(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

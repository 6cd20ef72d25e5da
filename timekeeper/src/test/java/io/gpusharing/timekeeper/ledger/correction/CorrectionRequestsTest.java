package io.gpusharing.timekeeper.ledger.correction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrders.Signed;
import io.gpusharing.timekeeper.ledger.correction.CorrectionRequests.Carrier;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** Two replicas with one database. */
class CorrectionRequestsTest {

    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final CorrectionOrder ORDER =
            new CorrectionOrder(UUID.randomUUID(), "team-a", NOON, NOON.plusSeconds(60), 250_000);

    private final TestDatabase database = TestDatabase.create();
    private final List<Signed> carriedOut = new CopyOnWriteArrayList<>();

    private final CorrectionRequests leader =
            replica(
                    Leadership.alone(),
                    (order, reason, by) -> {
                        assertThat(order).isEqualTo(ORDER);
                        assertThat(reason).isEqualTo("the node was broken");
                        carriedOut.add(by);
                        return "[]";
                    });

    private final CorrectionRequests follower = follower(Clock.systemUTC());

    private CorrectionRequests follower(Clock clock) {
        return new CorrectionRequests(
                database.rows(),
                (order, reason, by) -> {
                    throw new IllegalStateException("it does not lead");
                },
                new Leadership(() -> Instant.EPOCH),
                clock);
    }

    private CorrectionRequests replica(Leadership leadership, Carrier carrier) {
        return new CorrectionRequests(database.rows(), carrier, leadership, Clock.systemUTC());
    }

    private static String ordered(CorrectionRequests replica) {
        return replica.carryOut(ORDER, "the node was broken", "ada", "node-7", null);
    }

    /** Whoever waits has a thread of its own. */
    private static CompletableFuture<String> orderedBy(CorrectionRequests replica) {
        return CompletableFuture.supplyAsync(() -> ordered(replica), Thread::startVirtualThread);
    }

    private long waiting() {
        return database.jdbc()
                .sql("select count(*) from correction_request")
                .query(Long.class)
                .single();
    }

    @Test
    void theReplicaThatLeadsCarriesItOutItself() {
        assertThat(ordered(leader)).isEqualTo("[]");
        assertThat(carriedOut).containsExactly(new Signed("ada", "node-7", null));
        assertThat(waiting()).isZero();
    }

    @Test
    void anotherReplicaPassesItOnInTheNameOfWhoOrderedIt() throws Exception {
        var answer = orderedBy(follower);
        await("it is passed on").until(() -> waiting() == 1);

        leader.work(Instant.now());

        assertThat(answer.get()).isEqualTo("[]");
        assertThat(carriedOut).containsExactly(new Signed("ada", "node-7", null));
        await("nothing is left of it").until(() -> waiting() == 0);
        leader.work(Instant.now());
        assertThat(carriedOut).hasSize(1);
    }

    @Test
    void whatTheLeaderRefusesIsRefusedInItsWords() {
        CorrectionRequests refusing =
                replica(
                        Leadership.alone(),
                        (order, reason, by) -> {
                            throw new ResponseStatusException(
                                    HttpStatus.PRECONDITION_FAILED, "it has been corrected since");
                        });
        var answer = orderedBy(follower);
        await("it is passed on").until(() -> waiting() == 1);

        refusing.work(Instant.now());

        assertThatThrownBy(answer::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .hasMessageContainingAll("412", "it has been corrected since");
        await("nothing is left of it").until(() -> waiting() == 0);
    }

    @Test
    void whoeverWasToldThatItFailedFindsItNotDoneLater() throws Exception {
        var clock = new SteppingClock(NOON);
        var answer = orderedBy(follower(clock));
        await("it is passed on").until(() -> waiting() == 1);

        clock.pass(Duration.ofSeconds(4));
        assertThatThrownBy(answer::get)
                .cause()
                .hasMessageContainingAll("503", "nothing was corrected");

        assertThat(waiting()).isZero();
        leader.work(Instant.now());
        assertThat(carriedOut).isEmpty();
    }

    @Test
    void ofAnOrderThatWasTakenUpAndNotAnsweredNobodySaysThatItFailed() {
        var clock = new SteppingClock(NOON);
        var answer = orderedBy(follower(clock));
        await("it is passed on").until(() -> waiting() == 1);
        CorrectionRequests dying =
                replica(
                        Leadership.alone(),
                        (order, reason, by) -> {
                            throw new StackOverflowError();
                        });
        assertThatThrownBy(() -> dying.work(Instant.now())).isInstanceOf(StackOverflowError.class);

        clock.pass(Duration.ofSeconds(4));
        leader.work(Instant.now());
        clock.pass(Duration.ofSeconds(8));

        assertThatThrownBy(answer::get)
                .cause()
                .hasMessageContainingAll("503", "may correct it yet", "with the same key");
        assertThat(carriedOut).isEmpty();
    }

    /** The clock that counts is the database's. */
    @Test
    void anOrderOfAReplicaThatHasDiedIsNotCarriedOut() {
        var answer = orderedBy(follower);
        await("it is passed on").until(() -> waiting() == 1);
        database.jdbc()
                .sql("update correction_request set asked_at = now() - interval '21 seconds'")
                .update();

        leader.work(Instant.now());

        assertThat(carriedOut).isEmpty();
        assertThat(waiting()).isZero();
        answer.cancel(true);
    }

    @Test
    void oneThatFailsKeepsNoOtherFromBeingCarriedOut() {
        CorrectionRequests failing =
                replica(
                        Leadership.alone(),
                        (order, reason, by) -> {
                            throw new IllegalStateException("timestamp out of range");
                        });
        var answer = orderedBy(follower);
        await("it is passed on").until(() -> waiting() == 1);

        failing.work(Instant.now());

        assertThatThrownBy(answer::get)
                .cause()
                .hasMessageContainingAll("500", "the log of the replica that leads says why");
    }
}

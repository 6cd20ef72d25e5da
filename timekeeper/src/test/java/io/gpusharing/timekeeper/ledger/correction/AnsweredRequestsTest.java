package io.gpusharing.timekeeper.ledger.correction;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.server.ResponseStatusException;

class AnsweredRequestsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
    private final TestDatabase database = ledger.database;
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
    private final AnsweredRequests answered = database.repository(AnsweredRequests.class);
    private final Corrections corrections = ledger.corrections();
    private final TransactionTemplate transaction =
            new TransactionTemplate(database.entityTransactions());
    private final AtomicInteger done = new AtomicInteger();

    @BeforeEach
    void held() {
        ledger.onUpdate(pod);
    }

    private String once(String caller, String key, String digest) {
        return inTransaction(() -> answered(caller, key, digest));
    }

    private String answered(String caller, String key, String digest) {
        return answered.once(caller, key, digest, () -> "answer " + done.incrementAndGet());
    }

    /** Of whoever corrects a pod. */
    private String onceOfThePod(String digest) {
        return inTransaction(() -> {
            corrections.hold(pod.uid());
            return answered("ann", "k", digest);
        });
    }

    private <T> T inTransaction(Supplier<T> work) {
        return Objects.requireNonNull(transaction.execute(status -> work.get()));
    }

    @Test
    void theSameRequestIsAnsweredTheSameAndNothingIsDoneAgain() {
        assertThat(once("ann", "k", "digest")).isEqualTo("answer 1");

        assertThat(once("ann", "k", "digest")).isEqualTo("answer 1");
        assertThat(done).hasValue(1);
    }

    @Test
    void keysAreOfWhoeverAsks() {
        once("ann", "k", "digest");

        assertThat(once("bob", "k", "digest")).isEqualTo("answer 2");
        assertThat(once("ann", "l", "digest")).isEqualTo("answer 3");
    }

    @Test
    void aKeyIsForOneRequest() {
        once("ann", "k", "digest");

        assertThatThrownBy(() -> once("ann", "k", "another"))
                .isInstanceOf(ResponseStatusException.class)
                .hasMessageContaining("was used for another request");
        assertThat(done).hasValue(1);
    }

    @Test
    void whatFailsLeavesTheKeyUnused() {
        assertThatThrownBy(() ->
                        inTransaction(() -> {
                            answered("ann", "k", "digest");
                            throw new IllegalStateException("no room");
                        }))
                .hasMessage("no room");

        assertThat(once("ann", "k", "digest")).isEqualTo("answer 2");
    }

    @Test
    void ofTwoAtOnceTheSecondWaitsAndIsAnsweredTheSame() throws Exception {
        try (var replica = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<String> second =
                    inTransaction(() -> {
                        onceOfThePod("digest");
                        Future<String> asked = replica.submit(() -> onceOfThePod("digest"));
                        await().until(this::oneWaits);
                        return asked;
                    });

            assertThat(second.get()).isEqualTo("answer 1");
        }
        assertThat(done).hasValue(1);
    }

    /** Two timekeepers at once, and one key for what is about two pods. */
    @Test
    void ofTwoThatNothingKeepsApartOneIsUndone() throws Exception {
        try (var replica = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<String> second =
                    inTransaction(() -> {
                        answered("ann", "k", "digest");
                        database.repository(AnsweredRequests.class)
                                .findByCallerAndKey("ann", "k"); // writes what was saved
                        Future<String> asked = replica.submit(() -> once("ann", "k", "another"));
                        await().until(this::oneWaits);
                        return asked;
                    });

            assertThatThrownBy(second::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(DataIntegrityViolationException.class);
        }
        assertThatThrownBy(() -> once("ann", "k", "another"))
                .isInstanceOf(ResponseStatusException.class);
    }

    private boolean oneWaits() {
        return database.jdbc()
                .sql(
                        """
                        select exists(select 1 from pg_stat_activity
                                       where datname = current_database() and wait_event_type = 'Lock')
                        """)
                .query(Boolean.class)
                .single();
    }
}

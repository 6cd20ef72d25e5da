package io.gpusharing.timekeeper.receipt;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static io.gpusharing.timekeeper.receipt.TestEvictions.TEN;
import static io.gpusharing.timekeeper.receipt.TestEvictions.asked;
import static io.gpusharing.timekeeper.receipt.TestEvictions.in;
import static io.gpusharing.timekeeper.receipt.TestEvictions.settled;
import static io.gpusharing.timekeeper.receipt.TestEvictions.victim;
import static io.gpusharing.timekeeper.receipt.TestEvictions.waiter;
import static io.gpusharing.timekeeper.receipt.TestEvictions.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Candidate;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.receipt.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionTemplate;

/** Evictions are written down once, and their objects are deleted only then. */
class EvictionKeeperTest {

    private static final Duration TWO_DAYS = Duration.ofDays(2);
    private static final Victim LOW = victim("team-a", "low", "a");
    private static final GpuEviction ROOM =
            asked(Cause.Reclaim, waiter("team-b", "high", "b"), LOW);
    private static final GpuEviction DONE =
            settled(
                    in(Phase.Done, ROOM, Result.Evicted, null),
                    true,
                    "the waiter was bound to node-1");

    private final FakeApiServer api = new FakeApiServer();
    private final TestDatabase database = TestDatabase.create();
    private final Transactions transactions = new Transactions(database);
    private final SteppingClock clock = new SteppingClock(TEN);
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final EvictionRepository rows = database.repository(EvictionRepository.class);
    private final Replica replica = new Replica();

    EvictionKeeperTest() throws IOException {
        database.jdbc()
                .sql(
                        "insert into cluster (id, metering_start) values ('test', '2026-03-01T00:00:00Z')")
                .update();
        TestBudgets.exist(budgets, List.of(monthly("a", TEN, "6000", "team-a")));
        budgets.upToDate(TEN);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    /** A timekeeper, whose memory is its own. */
    private final class Replica {

        final EvictionWatch watch =
                new EvictionWatch(api.client(), new UnreadableObjects(object -> {}));

        final EvictionKeeper keeper =
                new EvictionKeeper(
                        api.client(),
                        watch,
                        rows,
                        transactions,
                        budgets,
                        new ReceiptProperties(TWO_DAYS),
                        Leadership.alone(),
                        clock);

        Replica() {
            watch.onListed();
        }

        @Nullable Instant sees(GpuEviction... objects) {
            for (GpuEviction object : objects) {
                watch.onUpdate(object);
            }
            return keeper.work(clock.instant());
        }
    }

    /** A database that goes away: before anything is written, or before it says that it was. */
    private static final class Transactions extends TransactionTemplate {

        private static final long serialVersionUID = 1L;

        boolean away;
        boolean silent;
        @Nullable Runnable beforeCommit;

        Transactions(TestDatabase database) {
            super(database.entityTransactions());
        }

        @Override
        public <T extends @Nullable Object> T execute(TransactionCallback<T> action)
                throws TransactionException {
            if (away) {
                throw new CannotCreateTransactionException("the database is away");
            }
            T result =
                    super.execute(status -> {
                        T done = action.doInTransaction(status);
                        Runnable meanwhile = beforeCommit;
                        if (meanwhile != null) {
                            beforeCommit = null;
                            meanwhile.run();
                        }
                        return done;
                    });
            if (silent) {
                throw new CannotCreateTransactionException("the database went away");
            }
            return result;
        }
    }

    private List<Receipt> receipts() {
        return new EvictionReceipts(rows).receipts(null, null, null, 100, namespace -> true);
    }

    private List<String> names() {
        return receipts().stream().map(it -> it.victim().name()).toList();
    }

    private List<Asked> deletions() {
        return api.requests.stream().filter(it -> it.method().equals("DELETE")).toList();
    }

    private List<String> deleted() {
        return deletions().stream()
                .map(it -> it.path().replace("/apis/gpusharing.io/v1alpha1/gpuevictions/", ""))
                .toList();
    }

    private static String name(GpuEviction object) {
        return object.getMetadata().getName();
    }

    @ParameterizedTest
    @RandomSeeds(20)
    void statesThatArriveInAnyOrderTwiceAndAtTwoReplicasAreOneReceiptOfTheLast(long seed) {
        var random = new Random(seed);
        var other = new Replica();
        var states = new ArrayList<GpuEviction>();
        for (int twice = 0; twice < 2; twice++) {
            states.addAll(
                    List.of(
                            ROOM,
                            in(Phase.Planned, ROOM),
                            in(Phase.Refused, ROOM, Result.Refused, "no"),
                            in(Phase.Planned, ROOM),
                            in(Phase.Done, ROOM, Result.Evicted, null),
                            DONE));
        }
        Collections.shuffle(states, random);

        states.forEach(it -> (random.nextBoolean() ? replica : other).sees(it));

        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> {
                    assertThat(receipt.result()).isEqualTo("Evicted");
                    assertThat(receipt.helped()).isTrue();
                    assertThat(receipt.outcome()).isEqualTo("the waiter was bound to node-1");
                });
    }

    @Test
    void ofTwoReplicasThatWriteAtTheSameTimeOneBeginsAnew() {
        var other = new Replica();
        transactions.beforeCommit = () -> meanwhile(() -> other.sees(in(Phase.Planned, ROOM)));

        assertThat(replica.sees(DONE)).isEqualTo(TEN.plusSeconds(1));
        assertThat(deleted()).isEmpty();
        replica.keeper.work(TEN);

        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> assertThat(receipt.helped()).isTrue());
    }

    /** In a transaction of its own. */
    private static void meanwhile(Runnable other) {
        CompletableFuture.runAsync(other).join();
    }

    @Test
    void whatIsOnlyAskedForIsNoEviction() {
        replica.sees(ROOM);

        assertThat(receipts()).isEmpty();
    }

    @Test
    void aPreemptionMayHaveHappenedAsSoonAsItIsAskedFor() {
        GpuEviction object = asked(Cause.Preemption, waiter("team-b", "high", "b"), LOW);
        replica.sees(object);
        replica.watch.onDelete(object);
        replica.keeper.work(TEN);

        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> assertThat(receipt.result()).isEqualTo("Planned"));
    }

    @Test
    void whoNamesNoBudgetGetsTheOneThatPaysForItsNamespace() {
        replica.sees(
                in(
                        Phase.Planned,
                        asked(
                                Cause.Preemption,
                                waiter("team-c", "high", null),
                                victim("team-a", "low", null))));

        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> {
                    assertThat(receipt.victim().budget()).isEqualTo("a");
                    assertThat(receipt.waiter())
                            .extracting(EvictionReceipts.Pod::budget)
                            .isEqualTo("/team-c");
                });
    }

    @Test
    void nothingIsWrittenBeforeItIsKnownWhoPays() {
        budgets.followed(TEN);

        assertThat(replica.sees(in(Phase.Planned, ROOM))).isEqualTo(TEN.plusSeconds(1));

        assertThat(receipts()).isEmpty();
    }

    @Test
    void aKillBetweenKeepingAndDeletingLeavesOneReceiptAndTheNextReplicaDeletes() {
        clock.pass(TWO_DAYS);
        api.refuse(name(DONE), 503);
        replica.sees(DONE);
        api.allow(name(DONE));

        new Replica().sees(DONE);

        assertThat(names()).containsExactly("low");
        assertThat(deleted()).containsExactly(name(DONE), name(DONE));
    }

    @Test
    void whatTheDatabaseDidNotSayThatItHasWrittenIsNotDeleted() {
        clock.pass(TWO_DAYS);
        transactions.silent = true;
        assertThatThrownBy(() -> replica.sees(DONE))
                .isInstanceOf(CannotCreateTransactionException.class);
        assertThat(deleted()).isEmpty();

        transactions.silent = false;
        replica.keeper.work(clock.instant());

        assertThat(names()).containsExactly("low");
        assertThat(deleted()).containsExactly(name(DONE));
    }

    @Test
    void whileTheDatabaseIsAwayNothingIsLost() {
        transactions.away = true;
        assertThatThrownBy(() -> replica.sees(DONE))
                .isInstanceOf(CannotCreateTransactionException.class);
        replica.watch.onDelete(DONE);
        assertThatThrownBy(() -> replica.keeper.work(TEN))
                .isInstanceOf(CannotCreateTransactionException.class);

        transactions.away = false;
        replica.keeper.work(TEN);

        assertThat(names()).containsExactly("low");
    }

    @Test
    void whatSomebodyDeletedBeforeItWasWrittenIsWrittenByWhoeverLeadsNext() {
        var next = new Replica();
        next.watch.onUpdate(DONE);
        next.watch.onDelete(DONE);

        next.keeper.work(TEN);

        assertThat(names()).containsExactly("low");
    }

    @Test
    void onlyWhatIsFinalAndOldIsDeletedAndNoOtherVersionOfIt() {
        GpuEviction done = in(Phase.Done, asked(Cause.RefusedStart, LOW), Result.Evicted, null);
        GpuEviction refusedReclaim = in(Phase.Refused, ROOM, Result.Refused, "no");
        GpuEviction notDone =
                in(Phase.NotDone, asked(Cause.Preemption, waiter("team-b", "high", "b"), LOW));
        GpuEviction gone = in(Phase.NotDone, asked(Cause.MemoryOveruse, LOW), Result.Gone, null);
        GpuEviction open =
                in(
                        Phase.Done,
                        asked(Cause.Reclaim, waiter("team-b", "high", "b"), LOW),
                        Result.Evicted,
                        null);
        GpuEviction askedAgain =
                in(Phase.Refused, asked(Cause.MemoryOveruse, LOW), Result.Refused, "no");
        GpuEviction young =
                in(
                        Phase.Done,
                        asked(Cause.RefusedStart, TEN.plusSeconds(1), null, null, LOW),
                        Result.Evicted,
                        null);
        clock.pass(TWO_DAYS);

        replica.sees(
                done,
                refusedReclaim,
                notDone,
                gone,
                open,
                askedAgain,
                young,
                asked(Cause.MemoryOveruse, LOW),
                in(Phase.Planned, asked(Cause.RefusedStart, LOW)));

        assertThat(deleted())
                .containsExactlyInAnyOrder(
                        name(done), name(refusedReclaim), name(notDone), name(gone));
        assertThat(deletions())
                .filteredOn(it -> it.path().endsWith(name(done)))
                .singleElement()
                .satisfies(it ->
                        assertThat(it.body())
                                .contains(
                                        "\"resourceVersion\":\""
                                                + done.getMetadata().getResourceVersion()
                                                + "\""));
    }

    /** Their numbers begin anew when all of them have been deleted. */
    @Test
    void twoOfOneNameOneAfterTheOtherAreTwoReceipts() {
        GpuEviction second = asked(Cause.Reclaim, waiter("team-b", "again", "b"), LOW);
        second.getMetadata().setName(name(ROOM));
        clock.pass(TWO_DAYS);
        replica.sees(DONE);
        replica.watch.onDelete(DONE);

        replica.sees(in(Phase.Planned, second));

        assertThat(receipts())
                .extracting(Receipt::result)
                .containsExactlyInAnyOrder("Evicted", "Planned");
        assertThat(deleted()).as("the first").containsExactly(name(ROOM));
        assertThat(replica.watch.all())
                .extracting(it -> it.getMetadata().getUid())
                .containsExactly(second.getMetadata().getUid());
    }

    @Test
    void oneThatWasMadeAnewUnderItsNameBeforeTheFirstWasKeptHidesItNot() {
        GpuEviction second = asked(Cause.Reclaim, waiter("team-b", "again", "b"), LOW);
        second.getMetadata().setName(name(ROOM));
        replica.watch.onUpdate(DONE);
        replica.watch.onDelete(DONE);

        replica.sees(in(Phase.Planned, second));

        assertThat(receipts())
                .extracting(Receipt::result)
                .containsExactlyInAnyOrder("Evicted", "Planned");
    }

    @Test
    void beyondTheMostThereMayBeTheOldestThatAreFinalGo() {
        GpuEviction oldest = done(TEN.plusSeconds(1));
        GpuEviction younger = done(TEN.plusSeconds(2));
        GpuEviction open = in(Phase.Planned, asked(Cause.RefusedStart, TEN, null, null, LOW));
        for (int i = 0; i < GpuEviction.MOST - 2; i++) {
            replica.watch.onUpdate(asked(Cause.MemoryOveruse, LOW));
        }
        clock.pass(Duration.ofMinutes(1));

        replica.sees(younger, oldest, open);

        assertThat(deleted()).containsExactly(name(oldest));
    }

    @Test
    void whatReclaimDidGoesAfterWhatOthersDid() {
        clock.pass(Duration.ofMinutes(5));
        GpuEviction reclaim =
                in(Phase.NotDone, asked(Cause.Reclaim, TEN, null, null, LOW), Result.Gone, null);
        GpuEviction younger = done(TEN.plusSeconds(2));
        for (int i = 0; i < GpuEviction.MOST - 1; i++) {
            replica.watch.onUpdate(asked(Cause.MemoryOveruse, LOW));
        }

        replica.sees(reclaim, younger);

        assertThat(deleted()).containsExactly(name(younger));
    }

    private static GpuEviction done(Instant createdAt) {
        return in(
                Phase.Done,
                asked(Cause.RefusedStart, createdAt, null, null, LOW),
                Result.Evicted,
                null);
    }

    @Test
    void whileNothingMayBeDeletedWhatHappensIsStillWrittenDown() {
        clock.pass(TWO_DAYS);
        GpuEviction first = done(TEN);
        GpuEviction second = done(TEN.minusSeconds(1));
        api.refuse(name(second), 403);

        assertThat(replica.sees(first, second)).isNull();
        replica.watch.onDelete(first);
        clock.pass(Duration.ofSeconds(59));
        replica.sees(in(Phase.Planned, ROOM));

        assertThat(deleted())
                .as("one holds up no other")
                .containsExactly(name(second), name(first));
        assertThat(receipts()).hasSize(3);

        api.allow(name(second));
        clock.pass(Duration.ofSeconds(1));
        replica.keeper.work(clock.instant());
        assertThat(deleted()).containsExactly(name(second), name(first), name(second));
    }

    @Test
    void whereManyMayNotBeDeletedFewAreTriedAndOthersHaveTheirTurn() {
        clock.pass(TWO_DAYS);
        var objects = new ArrayList<GpuEviction>();
        for (int i = 0; i < 12; i++) {
            GpuEviction object = done(TEN.minusSeconds(60 - i));
            api.refuse(name(object), 403);
            objects.add(object);
        }
        GpuEviction good = done(TEN);
        objects.add(good);

        replica.sees(objects.toArray(new GpuEviction[0]));
        assertThat(deleted()).hasSize(10).doesNotContain(name(good));
        replica.keeper.work(clock.instant());
        assertThat(deleted()).hasSize(10);

        clock.pass(Duration.ofMinutes(1));
        replica.keeper.work(clock.instant());
        assertThat(deleted().subList(10, 13))
                .containsExactly(name(objects.get(10)), name(objects.get(11)), name(good));
    }

    @Test
    void whileTheApiServerIsAwayItIsAskedOnceAMinute() {
        clock.pass(TWO_DAYS);
        GpuEviction first = done(TEN.minusSeconds(1));
        GpuEviction second = done(TEN);
        api.refuse(name(first), 503);

        replica.sees(first, second);
        assertThat(deleted()).containsExactly(name(first));

        api.allow(name(first));
        clock.pass(Duration.ofMinutes(1));
        replica.keeper.work(clock.instant());
        assertThat(deleted()).containsExactly(name(first), name(second), name(first));
    }

    @Test
    void whatChangedSinceItWasSeenIsNotMissed() {
        clock.pass(TWO_DAYS);
        GpuEviction first = done(TEN);
        api.refuse(name(first), 409);

        assertThat(replica.sees(first, done(TEN))).isNull();

        assertThat(deleted()).hasSize(2);
    }

    @Test
    void oneThatCannotBeReadHoldsUpNoneOfTheOthers() {
        GpuEviction later =
                in(Phase.Planned, asked(Cause.RefusedStart, victim("team-a", "x", "a")));
        Victim odd = victim("team-a", "odd", "a");
        replica.watch.onUpdate(ROOM);
        assertThatThrownBy(() ->
                        replica.watch.onUpdate(
                                with(ROOM, new Status("Postponed", null, null, null, null, null))))
                .isInstanceOf(IllegalArgumentException.class);
        GpuEviction negative =
                in(
                        Phase.Planned,
                        asked(
                                Cause.Reclaim,
                                new Victim(
                                        odd.namespace(),
                                        odd.name(),
                                        odd.uid(),
                                        odd.node(),
                                        "a",
                                        null,
                                        null,
                                        "why",
                                        -1L,
                                        null,
                                        null)));

        assertThat(replica.sees(negative, later)).isEqualTo(TEN.plusSeconds(1));

        assertThat(names()).containsExactly("x");
        assertThat(replica.watch.byName(name(ROOM))).contains(ROOM);
    }

    @Test
    void textsThatNoDatabaseHoldsAreWrittenAllTheSame() {
        GpuEviction object =
                asked(
                        Cause.Reclaim,
                        TEN,
                        waiter("team-b", "high", "b"),
                        new Considered(
                                Map.of("a \0", 1),
                                List.of(
                                        new Candidate(
                                                "team-a", "c\0", "1", "node-1", null, "\uD800"))),
                        LOW);

        replica.sees(in(Phase.Refused, object, Result.Refused, "a webhook says \0"));

        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> {
                    assertThat(receipt.resultDetail()).isEqualTo("a webhook says \uFFFD");
                    assertThat(receipt.considered()).contains("a \uFFFD", "c\uFFFD");
                });
    }
}

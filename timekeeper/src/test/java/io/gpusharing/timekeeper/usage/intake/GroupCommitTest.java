package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.pod;
import static io.gpusharing.timekeeper.usage.intake.Reports.sent;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Unavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataIntegrityViolationException;

class GroupCommitTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<Integer> batches = Collections.synchronizedList(new ArrayList<>());

    private static Delivery delivery() {
        UUID uid = UUID.randomUUID();
        return sent(sidecar(UUID.randomUUID(), 1, uid, use(1, 2)), pod(uid), PATIENCE);
    }

    private List<Outcome> accept(List<Delivery> batch) {
        batches.add(batch.size());
        return batch.stream().<Outcome>map(it -> new Accepted(false)).toList();
    }

    @Test
    void reportsDuringATransactionShareTheNextOne() throws Exception {
        var inside = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var answers = new ArrayList<CompletableFuture<Outcome>>();
        try (var commits =
                new GroupCommit(
                        batch -> {
                            inside.countDown();
                            await(release);
                            return accept(batch);
                        },
                        1_000,
                        100,
                        PATIENCE)) {
            answers.add(CompletableFuture.supplyAsync(() -> commits.submit(delivery())));
            await(inside);
            var submitted = new CountDownLatch(20);
            for (int i = 0; i < 20; i++) {
                Thread.ofVirtual()
                        .start(() -> {
                            submitted.countDown();
                            commits.submit(delivery());
                        });
            }
            await(submitted);
            while (commits.waiting() < 20) {
                Thread.onSpinWait();
            }
            release.countDown();
            assertThat(answers.getFirst().get(30, TimeUnit.SECONDS)).isInstanceOf(Accepted.class);
        }

        assertThat(batches).containsExactly(1, 20);
    }

    @Test
    void aLostRaceIsRunAgain() {
        var attempts = new AtomicInteger();
        try (var commits =
                new GroupCommit(
                        batch -> {
                            if (attempts.incrementAndGet() < 3) {
                                throw new CannotAcquireLockException("deadlock detected");
                            }
                            return accept(batch);
                        },
                        1_000,
                        100,
                        PATIENCE)) {
            assertThat(commits.submit(delivery())).isInstanceOf(Accepted.class);
        }

        assertThat(attempts).hasValue(3);
    }

    @Test
    void aReportTheDatabaseWillNotTakeDoesNotHoldUpTheOthers() throws Exception {
        var inside = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        Delivery bad = delivery();
        try (var commits =
                new GroupCommit(
                        batch -> {
                            inside.countDown();
                            await(release);
                            if (batch.contains(bad)) {
                                throw new DataIntegrityViolationException("check constraint");
                            }
                            return accept(batch);
                        },
                        1_000,
                        100,
                        PATIENCE)) {
            Thread.ofVirtual().start(() -> commits.submit(delivery()));
            await(inside);
            var refused = CompletableFuture.supplyAsync(() -> commits.submit(bad));
            var taken = CompletableFuture.supplyAsync(() -> commits.submit(delivery()));
            while (commits.waiting() < 2) {
                Thread.onSpinWait();
            }
            release.countDown();

            assertThat(refused.get(30, TimeUnit.SECONDS)).isInstanceOf(Unavailable.class);
            assertThat(taken.get(30, TimeUnit.SECONDS)).isInstanceOf(Accepted.class);
        }
    }

    @Test
    void whenTooManyWaitTheNextIsUnavailable() throws Exception {
        var inside = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        try (var commits =
                new GroupCommit(
                        batch -> {
                            inside.countDown();
                            await(release);
                            return accept(batch);
                        },
                        1_000,
                        1,
                        PATIENCE)) {
            Thread.ofVirtual().start(() -> commits.submit(delivery()));
            await(inside);
            Thread.ofVirtual().start(() -> commits.submit(delivery()));
            while (commits.waiting() < 1) {
                Thread.onSpinWait();
            }

            assertThat(commits.submit(delivery())).isInstanceOf(Unavailable.class);
            release.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            // close() wakes the committing thread; the latch decides all the same.
            Thread.currentThread().interrupt();
        }
    }
}

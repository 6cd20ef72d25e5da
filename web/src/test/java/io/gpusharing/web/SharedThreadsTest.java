package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SharedThreadsTest {

    private static final int THREADS = 8;

    private final SharedThreads threads = new SharedThreads();

    @Test
    void anAddressThatKeepsItsThreadsBusyLeavesSomeToAnother() throws InterruptedException {
        var over = new CountDownLatch(1);
        var answered = new CountDownLatch(1);
        try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
            for (int i = 0; i < 10 * THREADS; i++) {
                threads.execute(pool, THREADS, "slow", () -> awaitQuietly(over));
            }

            threads.execute(pool, THREADS, "other", answered::countDown);

            assertThat(answered.await(10, TimeUnit.SECONDS)).isTrue();
            over.countDown();
        }
    }

    @Test
    void everythingIsDoneAndTheAddressesTakeTurns() {
        Deque<Runnable> pool = new ArrayDeque<>();
        List<String> done = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.execute(pool::add, 1, "many", () -> done.add("many"));
        }
        threads.execute(pool::add, 1, "few", () -> done.add("few"));

        while (!pool.isEmpty()) {
            pool.remove().run();
        }

        assertThat(done).containsExactly("many", "few", "many", "many");
    }

    @Test
    void aPoolThatHasEndedIsSaidToHave() {
        assertThat(
                        threads.execute(
                                _ -> {
                                    throw new RejectedExecutionException();
                                },
                                1,
                                "late",
                                () -> {}))
                .isFalse();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

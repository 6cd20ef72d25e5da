package io.gpusharing.webhook.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class RoundRobinSemaphoreTest {

    private static final int ALL = 10;

    private final RoundRobinSemaphore semaphore = new RoundRobinSemaphore(ALL);
    private final List<String> served = new CopyOnWriteArrayList<>();

    @Test
    void freePermitsAreTakenAtOnceWithoutReadingTheNamespace() {
        assertThat(semaphore.acquire(RoundRobinSemaphoreTest::nobodyAsks, 4, now())).isTrue();
        assertThat(semaphore.acquire(RoundRobinSemaphoreTest::nobodyAsks, 6, now())).isTrue();
    }

    @Test
    void anotherNamespaceWaitsForOnlyOneRequestOfAFlood() throws InterruptedException {
        take(ALL);
        for (int i = 0; i < 5; i++) {
            waits("flood", ALL);
        }
        waits("bystander", ALL);

        for (int i = 0; i < 6; i++) {
            releaseUntilServed(i + 1);
        }

        assertThat(served)
                .containsExactly("flood", "bystander", "flood", "flood", "flood", "flood");
    }

    @Test
    void aLargeRequestIsNotStarvedBySmallOnes() throws InterruptedException {
        take(ALL);
        waits("much", 8);
        waits("little", 1);

        semaphore.release(7);
        assertThat(semaphore.acquire(() -> "late", 1, now())).isFalse();
        assertThat(served).isEmpty();

        semaphore.release(3);
        // There are permits for both now, and their threads may proceed in either order.
        await().untilAsserted(() -> assertThat(served).containsExactlyInAnyOrder("much", "little"));
    }

    @Test
    void aRequestThatGivesUpHoldsNoPermitAndDelaysNoOther() throws InterruptedException {
        take(ALL - 1);
        assertThat(semaphore.acquire(() -> "much", 2, now())).isFalse();

        assertThat(semaphore.acquire(() -> "little", 1, now())).isTrue();
        semaphore.release(ALL);
        assertThat(semaphore.acquire(() -> "all", ALL, now())).isTrue();
    }

    @Test
    void aRequestBehindOneThatGivesUpIsServed() throws InterruptedException {
        take(ALL - 1);
        Thread much = waits("much", 2);
        waits("little", 1);

        much.interrupt();

        await().untilAsserted(() -> assertThat(served).containsExactly("little"));
    }

    private void take(int permits) {
        assertThat(semaphore.acquire(RoundRobinSemaphoreTest::nobodyAsks, permits, now())).isTrue();
    }

    /** Returns once it is in the queue. */
    private Thread waits(String namespace, int permits) throws InterruptedException {
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            if (semaphore.acquire(
                                    () -> namespace, permits, now() + 60_000_000_000L)) {
                                served.add(namespace);
                            }
                        });
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return thread;
    }

    /** The permits of the one before. */
    private void releaseUntilServed(int count) {
        semaphore.release(ALL);
        await().untilAsserted(() -> assertThat(served).hasSize(count));
    }

    private static String nobodyAsks() {
        throw new AssertionError("asked for its namespace");
    }

    private static long now() {
        return System.nanoTime();
    }
}

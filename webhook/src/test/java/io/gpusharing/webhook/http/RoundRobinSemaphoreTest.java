package io.gpusharing.webhook.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.webhook.http.RoundRobinSemaphore.Asker;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class RoundRobinSemaphoreTest {

    private static final int ALL = 12;

    private static final String CLIENT = "10.0.0.1";
    private static final Asker HOLDER = new Asker("10.0.0.2", RoundRobinSemaphoreTest::nobodyAsks);

    private final RoundRobinSemaphore semaphore = new RoundRobinSemaphore(ALL);
    private final List<String> served = new CopyOnWriteArrayList<>();

    @Test
    void freePermitsAreTakenAtOnceWithoutReadingTheNamespace() {
        assertThat(semaphore.acquire(HOLDER, 4, now())).isTrue();
        assertThat(semaphore.acquire(HOLDER, 5, now())).isTrue();
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

        semaphore.release(HOLDER.client(), 7);
        assertThat(semaphore.acquire(asker("late"), 1, now())).isFalse();
        assertThat(served).isEmpty();

        semaphore.release(HOLDER.client(), 5);
        // There are permits for both now, and their threads may proceed in either order.
        await().untilAsserted(() -> assertThat(served).containsExactlyInAnyOrder("much", "little"));
    }

    @Test
    void aRequestThatGivesUpHoldsNoPermitAndDelaysNoOther() throws InterruptedException {
        take(ALL - 1);
        assertThat(semaphore.acquire(asker("much"), 2, now())).isFalse();

        assertThat(semaphore.acquire(asker("little"), 1, now())).isTrue();
        semaphore.release(HOLDER.client(), ALL - 1);
        semaphore.release(CLIENT, 1);
        assertThat(semaphore.acquire(asker("all"), ALL, now())).isTrue();
    }

    @Test
    void aRequestBehindOneThatGivesUpIsServed() throws InterruptedException {
        take(ALL - 1);
        Thread much = waits("much", 2);
        waits("little", 1);

        much.interrupt();

        await().untilAsserted(() -> assertThat(served).containsExactly("little"));
    }

    @Test
    void aClientLeavesAQuarterToOthersHoweverManyOfItsRequestsWait() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            Thread.ofVirtual().start(() -> semaphore.acquire(asker("flood"), 1, soon()));
        }
        await().until(() -> !semaphore.acquire(asker("flood"), 1, now()));

        for (int i = 0; i < 2; i++) {
            assertThat(semaphore.acquire(new Asker("10.0.0.2", () -> "a"), 1, soon())).isTrue();
        }
    }

    @Test
    void theClientThatHoldsLeastIsNextWhoeverCameFirst() throws InterruptedException {
        assertThat(semaphore.acquire(new Asker("10.0.0.3", () -> "a"), 8, now())).isTrue();
        assertThat(semaphore.acquire(asker("a"), 4, now())).isTrue();
        waits("flood", 4);
        waits(new Asker("10.0.0.4", () -> "bystander"), 4);

        semaphore.release("10.0.0.3", 4);

        await().untilAsserted(() -> assertThat(served).containsExactly("bystander"));
    }

    private static Asker asker(String namespace) {
        return new Asker(CLIENT, () -> namespace);
    }

    private void take(int permits) {
        assertThat(semaphore.acquire(HOLDER, permits, now())).isTrue();
    }

    /** Returns once it is in the queue. */
    private Thread waits(String namespace, int permits) throws InterruptedException {
        return waits(asker(namespace), permits);
    }

    private Thread waits(Asker asker, int permits) throws InterruptedException {
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            if (semaphore.acquire(asker, permits, soon())) {
                                served.add(asker.namespace().get());
                            }
                        });
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return thread;
    }

    /** The permits of the one before. */
    private void releaseUntilServed(int count) {
        semaphore.release(count == 1 ? HOLDER.client() : CLIENT, ALL);
        await().untilAsserted(() -> assertThat(served).hasSize(count));
    }

    private static String nobodyAsks() {
        throw new AssertionError("asked for its namespace");
    }

    private static long soon() {
        return now() + 60_000_000_000L;
    }

    private static long now() {
        return System.nanoTime();
    }
}

package io.gpusharing.timekeeper.statement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ResponseStatusException;

class ManifestMemoryTest {

    private static final int MIB = 1 << 20;

    /** Four parts of thirty-two of the heap at the chart's limit. */
    private final ManifestMemory memory = new ManifestMemory((int) (27.6 * MIB));

    @Test
    void theChartsLimitAllowsManifestsOf128KiBAndALowerOneSmallerOnes() {
        assertThat(memory.largest()).isEqualTo(DataSize.ofKilobytes(128));
        assertThat(new ManifestMemory(11 * MIB).largest().toKilobytes()).isEqualTo(51);
    }

    @Test
    void aLargeManifestIsReadOnceTheOneBeforeItIsAnswered() throws InterruptedException {
        String large = "a".repeat(100 << 10);
        var reading = new Semaphore(0);
        var answered = new Semaphore(0);
        Runnable asking =
                () ->
                        memory.during(
                                large,
                                () -> {
                                    reading.release();
                                    answered.acquireUninterruptibly();
                                    return "";
                                });

        Thread first = Thread.startVirtualThread(asking);
        reading.acquire();
        Thread second = Thread.startVirtualThread(asking);
        await().until(() -> second.getState() == Thread.State.WAITING);

        assertThat(reading.availablePermits()).isZero();
        answered.release();
        first.join();
        reading.acquire();
        answered.release();
        second.join();
    }

    @Test
    void aManifestThatIsLargerThanTheLargestIsRefusedWithTheLimit() {
        assertThatThrownBy(() -> memory.during("a".repeat((128 << 10) + 1), () -> ""))
                .isInstanceOf(ResponseStatusException.class)
                .hasMessageContaining("A manifest has 128 KiB at most");
    }
}

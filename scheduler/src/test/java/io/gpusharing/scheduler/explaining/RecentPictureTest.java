package io.gpusharing.scheduler.explaining;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.scheduler.explaining.RecentPicture.Seen;
import io.gpusharing.scheduler.picture.reading.GroupGpus;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecentPictureTest {

    private static final Instant NOON = Cluster.NOON;

    private final AtomicInteger read = new AtomicInteger();
    private final SteppingClock clock = new SteppingClock(NOON);

    private Seen seenAt(Instant now) {
        read.incrementAndGet();
        Cluster cluster = new Cluster();
        cluster.now = now;
        return new Seen(
                new Picture(cluster.snapshot(), GpuNames::isGpu),
                new GroupGpus(),
                node -> List.of(),
                false);
    }

    @Test
    void whatWasReadAnswersAllQuestionsOfTenSeconds() {
        var pictures = new RecentPicture(() -> seenAt(NOON), Duration.ZERO, clock);

        Seen first = pictures.seen();

        clock.set(NOON.plusMillis(9_999));
        assertThat(pictures.seen()).isSameAs(first);
        assertThat(read).hasValue(1);
        clock.set(NOON.plusSeconds(10));
        assertThat(pictures.seen()).isNotSameAs(first);
        assertThat(read).hasValue(2);
    }

    @Test
    void aClockThatIsSetBackMakesNothingGoodForLonger() {
        var pictures = new RecentPicture(() -> seenAt(NOON), Duration.ZERO, clock);
        Seen first = pictures.seen();

        clock.set(NOON.minusSeconds(3_600));

        assertThat(pictures.seen()).isNotSameAs(first);
    }

    @Test
    void whoeverWaitsTooLongForAnothersReadingIsToldSo() throws InterruptedException {
        var reading = new CountDownLatch(1);
        var asked = new CountDownLatch(1);
        var pictures =
                new RecentPicture(
                        () -> {
                            reading.countDown();
                            await(asked);
                            return seenAt(NOON);
                        },
                        Duration.ZERO,
                        clock);
        Thread other = Thread.ofVirtual().start(() -> pictures.seen());
        reading.await();

        assertThatExceptionOfType(NotSeenException.class)
                .isThrownBy(() -> pictures.seen())
                .withMessageContaining("ask again");

        asked.countDown();
        other.join();
        assertThat(pictures.seen()).isNotNull();
        assertThat(read).hasValue(1);
    }

    @Test
    void aReadingThatFailsIsTriedAgainByTheNextQuestion() {
        var pictures =
                new RecentPicture(
                        () -> {
                            if (read.get() == 0) {
                                read.incrementAndGet();
                                throw new IllegalStateException("the API server is away");
                            }
                            return seenAt(NOON);
                        },
                        Duration.ZERO,
                        clock);

        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> pictures.seen());

        assertThat(pictures.seen()).isNotNull();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.gpusharing.timekeeper.reclaim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.gpusharing.timekeeper.reclaim.RecentPicture.Seen;
import io.gpusharing.timekeeper.reclaim.explain.Picture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecentPictureTest {

    private static final Instant NOON = Cluster.NOON;

    private final AtomicInteger read = new AtomicInteger();

    private Seen seenAt(Instant now) {
        read.incrementAndGet();
        Cluster cluster = new Cluster();
        cluster.now = now;
        return new Seen(new Picture(cluster.snapshot()), node -> List.of(), false);
    }

    @Test
    void whatWasReadAnswersAllQuestionsOfTenSeconds() {
        var pictures = new RecentPicture(() -> seenAt(NOON), Duration.ZERO);

        Seen first = pictures.seen(NOON);

        assertThat(pictures.seen(NOON.plusMillis(9_999))).isSameAs(first);
        assertThat(read).hasValue(1);
        assertThat(pictures.seen(NOON.plusSeconds(10))).isNotSameAs(first);
        assertThat(read).hasValue(2);
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
                        Duration.ZERO);
        Thread other = Thread.ofVirtual().start(() -> pictures.seen(NOON));
        reading.await();

        assertThatExceptionOfType(NotSeenException.class)
                .isThrownBy(() -> pictures.seen(NOON))
                .withMessageContaining("ask again");

        asked.countDown();
        other.join();
        assertThat(pictures.seen(NOON)).isNotNull();
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
                        Duration.ZERO);

        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> pictures.seen(NOON));

        assertThat(pictures.seen(NOON)).isNotNull();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.gpusharing.webhook.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.web.HeapParts;
import io.gpusharing.webhook.http.BodyReader.Read.Body;
import io.gpusharing.webhook.http.ReviewSlots.Slot;
import io.gpusharing.webhook.http.RoundRobinSemaphore.Asker;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReviewSlotsTest {

    private static final Asker ASKER = new Asker("10.0.0.1", () -> "team-a");
    private static final Body SHORT = new Body(new byte[0], false, ASKER, 0);
    private static final Body LONG = new Body(new byte[0], true, ASKER, 0);

    private final ReviewSlots slots =
            new ReviewSlots(4, 1, HeapShares.of(new HeapParts(128 << 20)));

    @Test
    void aLongReviewWaitsForAnotherAndAShortOneForNeither() {
        assertThat(taken(LONG)).isPresent();

        assertThat(taken(LONG)).isEmpty();
        assertThat(taken(SHORT)).isPresent();
        assertThat(taken(SHORT)).isPresent();
    }

    @Test
    void aReleasedSlotIsFreeForTheNext() {
        taken(LONG).orElseThrow().release();

        assertThat(taken(LONG)).isPresent();
    }

    @Test
    void aLongReviewThatGetsNoSlotLetsTheNextOneIn() {
        Slot one = taken(SHORT).orElseThrow();
        while (taken(SHORT).isPresent()) {
            // Takes all that its client gets.
        }
        assertThat(taken(LONG)).isEmpty();

        one.release();

        assertThat(taken(LONG)).isPresent();
    }

    @Test
    void reviewsOfWhichMuchIsMadeWaitForMemory() {
        Slot one = slots.acquire(SHORT, 8 << 20, now()).orElseThrow();
        assertThat(slots.acquire(SHORT, 1, now())).isEmpty();

        one.release();

        assertThat(slots.acquire(SHORT, 1, now())).isPresent();
    }

    private Optional<Slot> taken(Body body) {
        return slots.acquire(body, 1, now());
    }

    private static long now() {
        return System.nanoTime();
    }
}

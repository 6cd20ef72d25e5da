package io.gpusharing.webhook.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.http.BodyReader.Read.Body;
import org.junit.jupiter.api.Test;

class ReviewSlotsTest {

    private static final Body SHORT = new Body(new byte[0], false, () -> "team-a", 0);
    private static final Body LONG = new Body(new byte[0], true, () -> "team-a", 0);

    private final ReviewSlots slots = new ReviewSlots(3, 1);

    @Test
    void aLongReviewWaitsForAnotherAndAShortOneForNeither() {
        assertThat(slots.acquire(LONG, now())).isTrue();

        assertThat(slots.acquire(LONG, now())).isFalse();
        assertThat(slots.acquire(SHORT, now())).isTrue();
        assertThat(slots.acquire(SHORT, now())).isTrue();
        assertThat(slots.acquire(SHORT, now())).isFalse();
    }

    @Test
    void aReleasedSlotIsFreeForTheNext() {
        assertThat(slots.acquire(LONG, now())).isTrue();
        slots.release(LONG);

        assertThat(slots.acquire(LONG, now())).isTrue();
    }

    @Test
    void aLongReviewThatGetsNoSlotLetsTheNextOneIn() {
        for (int i = 0; i < 3; i++) {
            assertThat(slots.acquire(SHORT, now())).isTrue();
        }
        assertThat(slots.acquire(LONG, now())).isFalse();

        slots.release(SHORT);

        assertThat(slots.acquire(LONG, now())).isTrue();
    }

    private static long now() {
        return System.nanoTime();
    }
}

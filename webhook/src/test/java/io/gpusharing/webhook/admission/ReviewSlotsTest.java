package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReviewSlotsTest {

    private static final int SHORT = 7_000;
    private static final int LONG = 1_300_000;

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
    void whatIsReleasedIsThereForTheNext() {
        assertThat(slots.acquire(LONG, now())).isTrue();
        slots.release(LONG);

        assertThat(slots.acquire(LONG, now())).isTrue();
    }

    @Test
    void aLongReviewThatGetsNoSlotLeavesItsTurnToTheNextOne() {
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

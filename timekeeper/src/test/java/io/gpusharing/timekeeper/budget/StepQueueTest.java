package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class StepQueueTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final StepQueue queue = new StepQueue();

    @Test
    void theSoonestIsNextAndThoseWhoseTimeHasComeAreDue() {
        queue.put("late", TEN.plusSeconds(2));
        queue.put("b", TEN);
        queue.put("a", TEN);
        queue.put("never", null);

        assertThat(queue.next()).isEqualTo(TEN);
        assertThat(queue.due(TEN.plusSeconds(1))).containsExactly("a", "b");
        assertThat(queue.due(TEN.minusMillis(1))).isEmpty();
    }

    @Test
    void eachBudgetHasOneStepWhichIsReplacedOrRemoved() {
        queue.put("a", TEN);
        queue.put("a", TEN.plusSeconds(5));
        queue.put("b", TEN.plusSeconds(6));
        assertThat(queue.next()).isEqualTo(TEN.plusSeconds(5));

        queue.remove("a");
        queue.put("b", null);

        assertThat(queue.next()).isNull();
        assertThat(queue.due(Instant.MAX)).isEmpty();
    }
}

package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private static final Duration AT_ONCE = Duration.ZERO;

    private final Backoff backoff = new Backoff(Duration.ofSeconds(1));

    @Test
    void roundsThatEndAtOnceAreFartherApartEachTime() {
        assertThat(IntStream.range(0, 7).mapToObj(round -> backoff.after(AT_ONCE).toSeconds()))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
    }

    @Test
    void afterARoundThatHasLastedTheNextBeginsAtOnce() {
        backoff.after(AT_ONCE);
        backoff.after(AT_ONCE);

        assertThat(backoff.after(Duration.ofMinutes(30))).isEqualTo(Duration.ZERO);
        assertThat(backoff.after(AT_ONCE)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void oneOrTwoThatEndAtOnceAreAnAccidentAndFiveAreNot() {
        IntStream.range(0, 4).forEach(_ -> backoff.after(AT_ONCE));
        assertThat(backoff.isRepeated()).isFalse();

        backoff.after(AT_ONCE);
        assertThat(backoff.isRepeated()).isTrue();

        backoff.after(Duration.ofMinutes(30));
        assertThat(backoff.isRepeated()).isFalse();
    }
}

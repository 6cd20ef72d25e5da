package io.gpusharing.webhook.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReviewTimeoutTest {

    private static final Duration OTHERWISE = Duration.ofSeconds(10);

    @ParameterizedTest(name = "{0}: {1} ms")
    @CsvSource(
            textBlock =
                    """
                    timeout=3s                  | 3000
                    timeout=2.9s                | 2900
                    timeout=9.9996s             | 10000
                    dryRun=All&timeout=5s       | 5000
                                                | 10000
                    dryRun=All                  | 10000
                    timeout=                    | 10000
                    timeout=0s                  | 10000
                    timeout=-3s                 | 10000
                    timeout=30s                 | 10000
                    timeout=1m30s               | 10000
                    timeout=500ms               | 10000
                    timeout=NaNs                | 10000
                    timeout=Infinitys           | 10000
                    timeout=3                   | 10000
                    """,
            delimiter = '|')
    void isWhatTheApiServerSaysAndNeverLongerThanOurOwn(@Nullable String query, long millis) {
        assertThat(ReviewTimeout.of(query, OTHERWISE)).hasMillis(millis);
    }
}

package io.gpusharing.timekeeper.aggregated;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgeTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    /** Cases of {@code k8s.io/apimachinery}, {@code duration_test.go}. */
    @ParameterizedTest
    @CsvSource({
        "PT-5S, 0s", "PT0S, 0s", "PT119S, 119s", "PT2M, 2m", "PT2M5S, 2m5s", "PT9M59S, 9m59s",
                "PT10M, 10m",
        "PT2H59M, 179m", "PT3H, 3h", "PT3H5M, 3h5m", "PT7H59M, 7h59m", "PT47H, 47h", "P2D, 2d",
                "P3DT4H, 3d4h",
        "P8D, 8d", "P729D, 729d", "P730D, 2y", "P731D, 2y1d", "P2920D, 8y"
    })
    void anAgeIsWrittenAsKubectlWritesIt(Duration age, String expected) {
        assertThat(Age.of(NOW.minus(age), NOW)).isEqualTo(expected);
    }
}

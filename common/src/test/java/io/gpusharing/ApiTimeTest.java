package io.gpusharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ApiTimeTest {

    @ParameterizedTest
    @CsvSource({
        "2026-03-01T10:00:00Z, 1772359200",
        "2026-03-01T10:00:00.000000Z, 1772359200",
        "2026-03-01T11:00:00+01:00, 1772359200",
        "10000-01-01T00:59:59Z, 253402304399",
        "-0001-12-31T23:00:00Z, -62167222800"
    })
    void readsWhatAnApiServerWrites(String text, long second) {
        assertThat(ApiTime.read(text)).isEqualTo(Instant.ofEpochSecond(second));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "yesterday", "2026-03-01", "10000-13-01T00:00:00Z"})
    void whatIsNoTimeIsRefused(String text) {
        assertThatThrownBy(() -> ApiTime.read(text)).isInstanceOf(DateTimeParseException.class);
    }

    @Test
    void noTimeIsNone() {
        assertThat(ApiTime.readPresent(null)).isNull();
    }
}

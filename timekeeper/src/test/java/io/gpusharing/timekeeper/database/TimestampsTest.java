package io.gpusharing.timekeeper.database;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimestampsTest {

    private final TestDatabase database = TestDatabase.create();

    /** What clients may write into an object as a time, the API server stores. */
    @ParameterizedTest
    @CsvSource({
        "2026-03-01T10:00:00.000001Z, 2026-03-01T10:00:00.000001Z",
        "+10000-01-01T00:59:59Z, +10000-01-01T00:59:59Z",
        "-0001-12-31T23:00:00Z, 0001-01-01T00:00:00Z"
    })
    void anyInstantOfAnObjectIsATimeOfTheDatabase(Instant written, Instant stored) {
        assertThat(stored(Timestamps.text(written))).isEqualTo(stored);
    }

    private Instant stored(@Nullable String text) {
        return database.jdbc()
                .sql("select :text::timestamptz as stored")
                .param("text", text)
                .query((row, _) -> Timestamps.instant(row, "stored"))
                .single();
    }
}

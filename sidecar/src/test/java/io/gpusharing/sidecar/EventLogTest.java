package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import org.junit.jupiter.api.Test;

class EventLogTest {

    @Test
    void writesInstantsAsRfc3339WithAllTheirDigits() {
        StringBuilder line = new StringBuilder();

        EventLog.appendInstant(line, LocalDateTime.of(2026, 3, 4, 5, 6, 0, 7_999_999));

        assertThat(line).hasToString("2026-03-04T05:06:00.007Z");
    }

    @Test
    void writesOneLinePerEventThatBeginsWithTheInstantInUtc() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Instant before = Instant.now().minusMillis(1);

        new EventLog(new PrintStream(out, true, StandardCharsets.UTF_8))
                .event("basis changed", "gpu", "GPU-1", "reason", "two\nlines");

        String[] words = out.toString(StandardCharsets.UTF_8).split(" ", 2);
        assertThat(Instant.parse(words[0])).isBetween(before, Instant.now());
        assertThat(words[1])
                .isEqualToIgnoringNewLines("basis changed gpu=GPU-1 reason=\"two lines\"");
    }

    @Test
    void leavesOutWhatIsEmptyAsTheUidOfANodeAgent() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        new EventLog(new PrintStream(out, true, StandardCharsets.UTF_8))
                .event("meter starts", "kind", "agent", "uid", "", "node", "n");

        assertThat(out.toString(StandardCharsets.UTF_8).strip())
                .endsWith("Z meter starts kind=agent node=n");
    }
}

package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.kubernetes.GpuBudget;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
class BudgetReaderTest {

    private static final Clock NOON =
            Clock.fixed(Instant.parse("2026-03-10T12:00:00Z"), ZoneOffset.UTC);

    private final BudgetReader reading = new BudgetReader(NOON, Optional.empty());

    private static GpuBudget budget(long generation, String minutes) {
        var budget = new GpuBudget();
        budget.setMetadata(
                new ObjectMetaBuilder()
                        .withName("odd")
                        .withGeneration(generation)
                        .withCreationTimestamp("2026-03-01T00:00:00Z")
                        .build());
        budget.setSpec(
                JsonMapper.shared()
                        .readValue(
                                "{\"namespaces\": [\"team-a\"], \"gpuMinutes\": \"%s\"}"
                                        .formatted(minutes),
                                GpuBudgetSpec.class));
        return budget;
    }

    private static long lines(CapturedOutput log) {
        return log.getAll().lines().filter(line -> line.contains("budget not understood")).count();
    }

    @Test
    void aBudgetThatIsNotUnderstoodIsLoggedOnceForEachChange(CapturedOutput log) {
        for (int i = 0; i < 55; i++) {
            reading.onList(List.of(budget(1, "much")));
        }
        assertThat(lines(log)).isEqualTo(1);

        reading.onList(List.of(budget(2, "plenty")));
        assertThat(lines(log)).isEqualTo(2);

        reading.onList(List.of(budget(3, "10")));
        reading.onList(List.of(budget(4, "much")));
        assertThat(lines(log)).as("it had been mended meanwhile").isEqualTo(3);
    }
}

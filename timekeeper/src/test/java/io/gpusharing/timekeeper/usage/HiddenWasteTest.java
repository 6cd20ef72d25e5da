package io.gpusharing.timekeeper.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.WasteReport.Line;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HiddenWasteTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | team-a/secret held 0.5 GPU for 10.0 min and nobody measured it | A pod of team-a held 0.5 GPU for 10.0 min and nobody measured it",
                "3 | Job team-a/secret held up to 0.5 GPU in each of 3 pods 2.0 h and was busy 10.0 % of what was watched | Pods of team-a held up to 0.5 GPU in each of 3 pods 2.0 h and was busy 10.0 % of what was watched"
            })
    void whoMayNotSeeThePodsOfANamespaceReadsNeitherTheirNamesNorTheirOwners(
            long pods, String summary, String hidden) {
        var line =
                new Line(
                        new UUID(1, 2),
                        "team-a",
                        "secret",
                        "Job",
                        "secret",
                        "team-a",
                        summary,
                        pods,
                        500_000,
                        600,
                        1,
                        2,
                        3,
                        4,
                        "0.000",
                        null,
                        null,
                        "agent");

        assertThat(line.withoutPod().summary()).isEqualTo(hidden);
        assertThat(line.withoutPod().toString()).doesNotContain("secret").doesNotContain("Job");
    }
}

package io.gpusharing.timekeeper.usage.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.intake.ReportReader.MalformedReportException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportReaderTest {

    /** The example of the reference, word for word but for the elided UUID. */
    static final String REFERENCE =
            """
            {
              "run": "6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11",
              "sequence": 42,
              "meter": "Sidecar",
              "pods": [{
                "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
                "devices": [{
                  "uuid": "GPU-1f2e3d4c-0000-0000-0000-000000000000",
                  "basis": "Process",
                  "basisReason": "",
                  "gpuMicroseconds": 123456789,
                  "memoryByteSeconds": 98765432100,
                  "coveredMicroseconds": 419000000,
                  "uncoveredMicroseconds": 1000000
                }]
              }],
              "unattributed": []
            }
            """;

    private final ReportReader reader = new ReportReader();

    private UsageReport read(String body) throws MalformedReportException {
        return reader.read(body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void onlyAnAgentNamesPodsThatUseAnUnrequestedGpu() throws Exception {
        String named =
                REFERENCE
                        .replace("Sidecar", "Agent")
                        .replace(
                                "\"unattributed\": []",
                                """
                                "unasked": [{"uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
                                             "namespace": "team-a", "pod": "miner-0.a"}]
                                """);

        assertThat(read(named).unasked())
                .containsExactly(
                        new UsageReport.Unasked(
                                UUID.fromString("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"),
                                "team-a",
                                "miner-0.a",
                                List.of()));
        assertThatThrownBy(() -> read(named.replace("Agent", "Sidecar")))
                .isInstanceOf(MalformedReportException.class);
        assertThatThrownBy(() -> read(named.replace("miner-0.a", "../secrets/x")))
                .hasMessageContaining("pod is no name");
    }

    @Test
    void anAgentNamesTheGpusThatAPodWasNotGiven() throws Exception {
        String named =
                REFERENCE
                        .replace("Sidecar", "Agent")
                        .replace(
                                "\"unattributed\": []",
                                """
                                "unasked": [{"uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
                                             "namespace": "team-a", "pod": "trainer",
                                             "devices": ["GPU-1f2e"]}]
                                """);

        UsageReport report = read(named);

        assertThat(report.unasked().getFirst().devices()).containsExactly("GPU-1f2e");
        assertThat(report.digest()).isNotEqualTo(read(named.replace("1f2e", "2f2e")).digest());
        assertThatThrownBy(() -> read(named.replace("GPU-1f2e", "a GPU")))
                .hasMessageContaining("is no name of a device");
    }

    private static final String RUNNING =
            REFERENCE
                    .replace("Sidecar", "Agent")
                    .replace(
                            "\"unattributed\": []",
                            """
                            "running": {"whole": true, "pods": [
                              {"uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10", "device": "GPU-1", "index": 0,
                               "grantedBytes": 4, "count": 2,
                               "processes": [{"pid": 7, "command": "python", "memoryBytes": 3, "busyPercent": 40},
                                             {"pid": 8}]}]}
                            """);

    @Test
    void anAgentTellsWhatRunsAndNothingOfItIsCounted() throws Exception {
        UsageReport report = read(RUNNING);

        assertThat(report.running())
                .isEqualTo(
                        new UsageReport.Running(
                                true,
                                List.of(
                                        new UsageReport.PodProcesses(
                                                UUID.fromString(
                                                        "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"),
                                                "GPU-1",
                                                0,
                                                4L,
                                                2,
                                                List.of(
                                                        new UsageReport.GpuProcess(
                                                                7, "python", 3L, 40),
                                                        new UsageReport.GpuProcess(
                                                                8, null, null, null))))));
        assertThat(report.digest()).isEqualTo(read(REFERENCE.replace("Sidecar", "Agent")).digest());
        assertThat(read(REFERENCE).running()).isNull();
        assertThatThrownBy(() -> read(RUNNING.replace("Agent", "Sidecar")))
                .hasMessageContaining("nothing else");
        assertThatThrownBy(() -> read(RUNNING.replace("\"count\": 2", "\"count\": -2")))
                .hasMessageContaining("running.pods[0].count");
    }

    @ParameterizedTest
    @CsvSource({
        "\\u001b[2J, ?[2J",
        "\\u009b2J, ?2J",
        "a\\nb, a?b",
        "\\u202eevil, ?evil",
        "\\u2028, ?",
        "\\ue000, ?",
        "\\u0378, ?"
    })
    void aNameOfAProgramMovesNoTerminalAndCostsNoNodeItsReport(String name, String shown)
            throws Exception {
        UsageReport report = read(RUNNING.replace("python", name));

        assertThat(java.util.Objects.requireNonNull(report.running()).pods().getFirst().processes())
                .first()
                .extracting(UsageReport.GpuProcess::command)
                .isEqualTo(shown);
    }

    @Test
    void anAgentNamesPodsThatHoldMoreMemoryThanTheyWereGiven() throws Exception {
        String named =
                REFERENCE
                        .replace("Sidecar", "Agent")
                        .replace(
                                "\"unattributed\": []",
                                """
                                "exceeded": [{"uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
                                              "namespace": "team-a", "pod": "trainer", "device": "GPU-1",
                                              "usedBytes": 5, "grantedBytes": 4}]
                                """);

        UsageReport report = read(named);

        assertThat(report.exceeded())
                .containsExactly(
                        new UsageReport.MemoryExceeded(
                                UUID.fromString("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"),
                                "team-a",
                                "trainer",
                                "GPU-1",
                                5,
                                4));
        assertThat(report.digest())
                .isNotEqualTo(read(named.replace("Bytes\": 5", "Bytes\": 6")).digest());
        assertThatThrownBy(() -> read(named.replace("Agent", "Sidecar")))
                .isInstanceOf(MalformedReportException.class);
        assertThatThrownBy(() -> read(named.replace("Bytes\": 4", "Bytes\": -4")))
                .isInstanceOf(MalformedReportException.class);
    }

    @Test
    void readsTheExampleOfTheReference() throws Exception {
        UsageReport report = read(REFERENCE);

        assertThat(report.run()).isEqualTo(UUID.fromString("6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11"));
        assertThat(report.sequence()).isEqualTo(42);
        assertThat(report.meter()).isEqualTo(Meter.Sidecar);
        assertThat(report.pods().getFirst().devices())
                .containsExactly(
                        new DeviceUse(
                                "GPU-1f2e3d4c-0000-0000-0000-000000000000",
                                Basis.Process,
                                "",
                                123456789,
                                null,
                                98765432100L,
                                419000000,
                                1000000));
    }

    @Test
    void passesOverWhatANewerMeterAdds() throws Exception {
        assertThat(read(REFERENCE.replace("\"sequence\"", "\"new\": {\"a\": 1}, \"sequence\"")))
                .isEqualTo(read(REFERENCE));
    }

    @Test
    void theDigestDependsOnContentOnly() throws Exception {
        UsageReport spaced = read(REFERENCE.replace("\n", " \n "));
        UsageReport other = read(REFERENCE.replace("123456789", "123456788"));

        assertThat(spaced.digest()).isEqualTo(read(REFERENCE).digest());
        assertThat(other.digest()).isNotEqualTo(read(REFERENCE).digest());
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"sequence\": 42 | \"sequence\": -1 | sequence must be greater than or equal to 0",
                "\"sequence\": 42 | \"other\": 42 | sequence is missing",
                "\"sequence\": 42 | \"sequence\": 4.5 | sequence is missing",
                "\"sequence\": 42 | \"sequence\": \"42\" | sequence is missing",
                "\"sequence\": 42 | \"sequence\": 99999999999999999999 | sequence is missing",
                "\"meter\": \"Sidecar\" | \"meter\": \"sidecar\" | meter is one of",
                "\"meter\": \"Sidecar\" | \"meter\": null | meter is missing",
                "\"meter\": \"Sidecar\" | \"meter\": \" Sidecar\" | meter is one of",
                "\"meter\": \"Sidecar\" | \"meter\": \"0\" | meter is one of",
                "\"meter\": \"Sidecar\" | \"meter\": 0 | meter is one of",
                "\"meter\": \"Sidecar\" | \"meter\": \"\" | meter is one of",
                "6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11 | 1-1-1-1-1 | run is no UUID",
                "6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11 | bw0cnnpVSw6aXh8KLXqcEQ== | run is no UUID",
                "\"6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11\" | \"\" | run is no UUID",
                "\"uid\": \"0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10\", | `` | pods[0].uid is missing",
                "\"pods\": [{ | \"pods\": [null, { | pods[0] is missing",
                "\"devices\": [{ | \"devices\": [5, { | pods[0].devices[0] is no JSON object",
                "\"unattributed\": [] | \"unattributed\": {} | unattributed is no array",
                "\"unattributed\": [] | \"unattributed\": \"\" | unattributed is no array",
                "\"Process\" | \"Guess\" | basis is one of",
                "\"Process\" | \"Process \" | basis is one of",
                "GPU-1f2e3d4c | GPU 1f2e3d4c | uuid is no name of a device",
                "\"basisReason\": \"\" | \"basisReason\": \"a\\u0000b\" | basisReason has control characters",
                "\"basisReason\": \"\" | \"basisReason\": 5 | basisReason is no string",
                "\"gpuMicroseconds\": 123456789 | \"gpuMicroseconds\": -1 | pods[0].devices[0].gpuMicroseconds must be greater than or equal to 0",
                "\"gpuMicroseconds\": 123456789 | \"gpuMicroseconds\": true | pods[0].devices[0].gpuMicroseconds is missing",
                "\"uncoveredMicroseconds\": 1000000 | \"uncoveredMicroseconds\": null | uncoveredMicroseconds is missing",
                "\"gpuMicroseconds\": 123456789 | \"gpuMicroseconds\": NaN | not JSON",
                "\"unattributed\": [] | \"unattributed\": [{\"uuid\": \"GPU-1\", \"gpuMicroseconds\": 1}] | a sidecar reports",
                "\"pods\": [{ | \"pods\": [{\"uid\": \"0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10\", \"devices\": []}, { | appears twice",
                "\"sequence\": 42 | \"sequence\": 42, \"sequence\": 43 | not JSON"
            })
    void saysWhatIsWrong(String right, String wrong, String message) {
        assertThat(REFERENCE).contains(right);
        assertThatThrownBy(() -> read(REFERENCE.replace(right, wrong)))
                .isInstanceOf(MalformedReportException.class)
                .hasMessageContaining(message);
    }

    @Test
    void refusesAReasonThatIsTooLong() {
        String reason = "\"basisReason\": \"" + "x".repeat(257) + "\"";

        assertThatThrownBy(() -> read(REFERENCE.replace("\"basisReason\": \"\"", reason)))
                .hasMessageContaining("basisReason size must be between 0 and 256");
    }

    @Test
    void refusesADeviceThatAppearsTwiceInOnePod() {
        String device = REFERENCE.substring(REFERENCE.indexOf("[{\n      \"uuid\"") + 1);

        assertThatThrownBy(() ->
                        read(
                                REFERENCE.replace(
                                        "\"devices\": [",
                                        "\"devices\": ["
                                                + device.substring(0, device.indexOf('}') + 1)
                                                + ",")))
                .hasMessageContaining("appears twice");
    }

    @ParameterizedTest
    @CsvSource({"''", "'['", "'[]'", "'null'", "'{}'", "'{} {}'"})
    void survivesMalformedReports(String body) {
        assertThatThrownBy(() -> read(body)).isInstanceOf(MalformedReportException.class);
    }
}

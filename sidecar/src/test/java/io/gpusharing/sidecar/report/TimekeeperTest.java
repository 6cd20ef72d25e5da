package io.gpusharing.sidecar.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.report.Answer.Mode;
import io.gpusharing.sidecar.report.FakeTimekeeper.Reply;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodProcesses;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Usage;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One report over TLS. */
class TimekeeperTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String UID = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    private static final UsageReport REPORT =
            new UsageReport(
                    "run-1",
                    42,
                    "Sidecar",
                    new Usage(
                            List.of(
                                    new PodUse(
                                            UID,
                                            null,
                                            List.of(
                                                    new DeviceUse(
                                                            "GPU-1",
                                                            Basis.DEVICE,
                                                            "why \"so\"\n",
                                                            1,
                                                            8,
                                                            2,
                                                            3,
                                                            4,
                                                            new DeviceUse.Memory(5, 0, false),
                                                            false,
                                                            Basis.DEVICE,
                                                            List.of())))),
                            List.of(new Usage.Unattributed("GPU-1", 7)),
                            List.of(),
                            List.of(),
                            Usage.Running.UNKNOWN));

    @TempDir Path directory;
    private Path token;

    @BeforeEach
    void writeToken() throws Exception {
        token = Files.writeString(directory.resolve("token"), "first\n");
    }

    private Timekeeper client(FakeTimekeeper server, String ca) throws Exception {
        return new Timekeeper(URI.create(server.url() + "/"), ca, token);
    }

    @Test
    void aReportNamesPodsThatUseAGpuWithoutRequestingOne() {
        Usage usage =
                new Usage(
                        List.of(),
                        List.of(),
                        List.of(
                                new Usage.Unasked(UID, "team-a", "miner", List.of()),
                                new Usage.Unasked(UID, "team-a", "other", List.of("GPU-1"))),
                        List.of(),
                        Usage.Running.UNKNOWN);

        assertThat(new UsageReport("run-1", 1, "Agent", usage).toJson())
                .endsWith(
                        ",\"unasked\":[{\"uid\":\"%1$s\",\"namespace\":\"team-a\",\"pod\":\"miner\"},{\"uid\":\"%1$s\",\"namespace\":\"team-a\",\"pod\":\"other\",\"devices\":[\"GPU-1\"]}],\"running\":{\"whole\":false,\"pods\":[]}}"
                                .formatted(UID));
    }

    @Test
    void aReportNamesPodsThatHoldMoreMemoryThanTheyWereGiven() {
        Usage usage =
                new Usage(
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(new Usage.MemoryExceeded(UID, "team-a", "trainer", "GPU-1", 5, 4)),
                        Usage.Running.UNKNOWN);

        assertThat(new UsageReport("run-1", 1, "Agent", usage).toJson())
                .endsWith(
                        ",\"exceeded\":[{\"uid\":\"%s\",\"namespace\":\"team-a\",\"pod\":\"trainer\",\"device\":\"GPU-1\",\"usedBytes\":5,\"grantedBytes\":4}],\"running\":{\"whole\":false,\"pods\":[]}}"
                                .formatted(UID));
    }

    private static PodProcesses processes(String uid, int count) {
        return new PodProcesses(
                uid,
                "GPU-1",
                0,
                0,
                count,
                IntStream.range(0, count)
                        .mapToObj(pid -> new PodProcesses.GpuProcess(pid + 1, "", 0, -1))
                        .toList());
    }

    private static String reported(List<PodProcesses> processes) {
        return new UsageReport(
                        "run-1",
                        1,
                        "Agent",
                        new Usage(
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                new Usage.Running(true, processes)))
                .toJson();
    }

    @Test
    void aReportTellsTheProcessesOfEachPodAndNothingOfThemThatIsNotKnown() {
        assertThat(
                        reported(
                                List.of(
                                        new PodProcesses(
                                                UID,
                                                "GPU-1",
                                                3,
                                                1024,
                                                2,
                                                List.of(
                                                        new PodProcesses.GpuProcess(
                                                                7, "py\"thon", 512, 40),
                                                        new PodProcesses.GpuProcess(8, "", 0, -1))),
                                        new PodProcesses(UID, "GPU-2", -1, 0, 0, List.of()))))
                .endsWith(
                        ",\"running\":{\"whole\":true,\"pods\":[{\"uid\":\"%1$s\",\"device\":\"GPU-1\",\"index\":3,\"grantedBytes\":1024,\"count\":2,\"processes\":[{\"pid\":7,\"command\":\"py\\\"thon\",\"memoryBytes\":512,\"busyPercent\":40},{\"pid\":8}]},{\"uid\":\"%1$s\",\"device\":\"GPU-2\",\"count\":0,\"processes\":[]}]}}"
                                .formatted(UID));
    }

    @Test
    void whoeverStartsManyProcessesMakesNoReportMuchLonger() {
        String alone = reported(List.of(processes(UID, 10_000)));
        String crowd = reported(Collections.nCopies(1_000, processes(UID, 10_000)));

        assertThat(alone).contains("\"count\":10000").contains("{\"pid\":64}]");
        assertThat(alone).doesNotContain("{\"pid\":65}");
        assertThat(crowd).contains("\"count\":10000,\"processes\":[]}").doesNotContain("\"pid\"");
        assertThat(crowd).hasSizeLessThan(150_000);
    }

    @Test
    void whoeverStartsManyProcessesHidesNoneOfHisNeighbours() {
        var pods = new ArrayList<>(Collections.nCopies(100, processes(UID, 3)));
        pods.addAll(Collections.nCopies(20, processes(UID, 10_000)));

        assertThat(reported(pods).split("\"pid\":3}", -1)).hasSize(121);
        assertThat(reported(pods)).contains("{\"pid\":10}]").doesNotContain("{\"pid\":11}");
    }

    @Test
    void aReportIsWrittenAsTheReferenceSays() {
        assertThat(REPORT.toJson())
                .isEqualTo(
                        "{\"run\":\"run-1\",\"sequence\":42,\"meter\":\"Sidecar\",\"pods\":[{\"uid\":"
                                + "\""
                                + UID
                                + "\",\"devices\":[{\"uuid\":\"GPU-1\",\"basis\":\"Device\","
                                + "\"basisReason\":\"why \\\"so\\\" \",\"gpuMicroseconds\":1,"
                                + "\"atMostMicroseconds\":8,\"memoryByteSeconds\":2,\"coveredMicroseconds\":3,"
                                + "\"uncoveredMicroseconds\":4}]}],\"unattributed\":[{\"uuid\":"
                                + "\"GPU-1\",\"gpuMicroseconds\":7}]}");
    }

    private static String sent(DeviceUse use) {
        Usage usage =
                new Usage(
                        List.of(new PodUse(UID, null, List.of(use))),
                        List.of(),
                        List.of(),
                        List.of(),
                        Usage.Running.UNKNOWN);
        return new UsageReport("run-1", 1, "Sidecar", usage).toJson();
    }

    @Test
    void whatWasMeasuredBeforeADowngradeKeepsItsBasis() {
        String fell =
                sent(
                        new DeviceUse(
                                "GPU-1",
                                Basis.ALLOCATION,
                                "lost",
                                5,
                                5,
                                0,
                                9,
                                9,
                                DeviceUse.Memory.UNKNOWN,
                                false,
                                Basis.PROCESS,
                                List.of()));
        String never =
                sent(
                        new DeviceUse(
                                "GPU-1",
                                Basis.ALLOCATION,
                                "lost",
                                0,
                                0,
                                0,
                                0,
                                9,
                                DeviceUse.Memory.UNKNOWN,
                                false,
                                Basis.PROCESS,
                                List.of()));

        assertThat(fell)
                .contains("\"basis\":\"Process\",\"basisReason\":\"not measured now: lost\"");
        assertThat(never).contains("\"basis\":\"Allocation\",\"basisReason\":\"lost\"");
    }

    @Test
    void aReasonIsOneLineOfBoundedLength() {
        String json =
                sent(
                        new DeviceUse(
                                "GPU-1",
                                Basis.ALLOCATION,
                                "why\n" + "y".repeat(500),
                                0,
                                0,
                                0,
                                0,
                                9,
                                DeviceUse.Memory.UNKNOWN,
                                false,
                                Basis.PROCESS,
                                List.of()));

        String reason = json.replaceAll(".*basisReason\":\"([^\"]*)\".*", "$1");
        assertThat(reason).hasSize(256).startsWith("why yy").endsWith("…");
    }

    @Test
    void aStaticPodWithoutAKnownUidIsNotReported() {
        Usage usage =
                new Usage(
                        List.of(new PodUse("a".repeat(32), null, List.of())),
                        List.of(),
                        List.of(),
                        List.of(),
                        new Usage.Running(true, List.of(processes("a".repeat(32), 1))));

        assertThat(new UsageReport("run-1", 1, "Agent", usage).toJson())
                .contains("\"pods\":[]")
                .contains("\"running\":{\"whole\":true,\"pods\":[]}");
    }

    @Test
    void aRenewedTokenIsReadBeforeTheNextReport() throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper()) {
            Timekeeper client = client(server, server.ca());
            client.deliver(REPORT, PATIENCE);
            Files.writeString(token, "second");
            client.deliver(REPORT, PATIENCE);

            assertThat(server.received)
                    .extracting(FakeTimekeeper.Received::token)
                    .containsExactly("Bearer first", "Bearer second");
        }
    }

    @Test
    void connectionsAreKeptBetweenReports() throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper()) {
            Timekeeper client = client(server, server.ca());
            for (int i = 0; i < 5; i++) {
                assertThat(client.deliver(REPORT, PATIENCE)).isInstanceOf(Answer.Taken.class);
            }

            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void aServerOfAnotherAuthorityGetsNothing() throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper();
                FakeTimekeeper other = new FakeTimekeeper()) {
            Answer answer = client(server, other.ca()).deliver(REPORT, PATIENCE);

            assertThat(answer).isInstanceOf(Answer.Unavailable.class);
            assertThat(server.received).isEmpty();
        }
    }

    @Test
    void aCertificateForAnotherAddressGetsNothing() throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper("127.0.0.2")) {
            Answer answer = client(server, server.ca()).deliver(REPORT, PATIENCE);

            assertThat(answer).isInstanceOf(Answer.Unavailable.class);
            assertThat(server.received).isEmpty();
        }
    }

    @Test
    void theNextAuthorityIsTrustedOnceItWasHandedOver() throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper();
                FakeTimekeeper successor = new FakeTimekeeper()) {
            Timekeeper client = client(successor, server.ca());
            assertThat(client.deliver(REPORT, PATIENCE)).isInstanceOf(Answer.Unavailable.class);

            client.trust(server.ca() + successor.ca());

            assertThat(client.deliver(REPORT, PATIENCE)).isInstanceOf(Answer.Taken.class);
        }
    }

    @Test
    void withoutATokenNothingIsSent() throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper()) {
            Files.delete(token);

            assertThat(client(server, server.ca()).deliver(REPORT, PATIENCE))
                    .isInstanceOfSatisfying(
                            Answer.Unavailable.class,
                            answer -> assertThat(answer.reason()).contains("token"));
            assertThat(server.received).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "200|{\"result\":\"Accepted\",\"mode\":\"Heartbeat\"}|HEARTBEAT",
                "200|{\"result\":\"Duplicate\",\"mode\":\"Full\"}|FULL",
                "200|{\"result\":\"Accepted\",\"mode\":\"Full\",\"unknown\":[1]}|FULL",
            })
    void anAcceptedReportReturnsTheMode(int status, String body, Mode mode) throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper()) {
            server.replies.set(0, new Reply(status, body));

            assertThat(client(server, server.ca()).deliver(REPORT, PATIENCE))
                    .isEqualTo(new Answer.Taken(mode, null));
        }
    }

    @ParameterizedTest(name = "defect 47: {0} {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "503|{\"detail\":\"the database is away\"}|later",
                "500|<html>oops</html>|later",
                "429||later",
                "200|no JSON at all|later",
                "200|[]|later",
                "400|{\"detail\":\"malformed\"}|never",
                "401|{}|never",
                "403|{\"detail\":\"not your pod\"}|never",
                "409|{\"detail\":\"another content\"}|never",
                "413|<html></html>|never",
            })
    void defect47_noAnswerStopsTheMeter(int status, String body, String kind) throws Exception {
        try (FakeTimekeeper server = new FakeTimekeeper()) {
            server.replies.set(0, new Reply(status, body == null ? "" : body));

            Answer answer = client(server, server.ca()).deliver(REPORT, PATIENCE);

            assertThat(answer)
                    .isInstanceOf(
                            kind.equals("later") ? Answer.Unavailable.class : Answer.Refused.class);
        }
    }
}

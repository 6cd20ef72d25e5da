package io.gpusharing.sidecar.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.report.FakeTimekeeper.Reply;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.Counters;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Snapshot;
import io.gpusharing.sidecar.usage.Usage;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports over time: nothing is lost, counted twice or taken back. */
class ReporterTest {

    private static final String OK = "{\"result\":\"Accepted\",\"mode\":\"Full\"}";

    @TempDir Path directory;
    private final FakeTimekeeper server = new FakeTimekeeper();
    private final List<String> events = new ArrayList<>();
    private Timekeeper timekeeper;
    private StateFile stateFile;
    private long busy;

    @BeforeEach
    void connect() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "t");
        timekeeper = new Timekeeper(URI.create(server.url()), server.ca(), token);
        stateFile = new StateFile(directory);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Reporter reporter(long sequence) {
        return new Reporter(
                "Sidecar", "run-1", sequence, new Counted(), timekeeper, stateFile, new Recorder());
    }

    private final class Counted implements Counters {

        @Override
        public Usage usage() {
            busy += 1_000;
            DeviceUse use =
                    new DeviceUse(
                            "GPU-1",
                            Basis.PROCESS,
                            "",
                            busy,
                            busy,
                            0,
                            busy,
                            0,
                            DeviceUse.Memory.UNKNOWN,
                            false,
                            Basis.PROCESS,
                            List.of());
            return new Usage(
                    List.of(new PodUse("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10", null, List.of(use))),
                    List.of(),
                    List.of(),
                    List.of(),
                    Usage.Running.UNKNOWN);
        }

        @Override
        public Snapshot snapshot() {
            return new Snapshot("boot", 0, 1, List.of());
        }

        @Override
        public void beginAnew() {
            busy = 0;
        }
    }

    @Test
    void aRefusedRunIsFollowedByANewOneFromZero() {
        server.replies.set(
                0,
                new Reply(
                        403,
                        "{\"type\":\"urn:gpusharing:problem:run-refused\",\"detail\":\"it fell\"}"));
        server.replies.add(new Reply(200, OK));
        Reporter reporter = reporter(41);

        assertThat(reporter.report()).isInstanceOf(Answer.Refused.class);
        assertThat(reporter.report()).isInstanceOf(Answer.Taken.class);

        assertThat(server.received)
                .extracting(received -> String.valueOf(received.report().get("sequence")))
                .containsExactly("42", "1");
        assertThat(server.received)
                .extracting(received -> String.valueOf(received.report().get("run")))
                .doesNotHaveDuplicates();
        assertThat(server.received.getLast().report().toString()).contains("gpuMicroseconds=1000,");
        assertThat(events)
                .containsExactly("not delivered", "run refused: HTTP 403 it fell", "delivering 1");
        assertThat(stateFile.load())
                .isInstanceOfSatisfying(
                        StateFile.Loaded.Found.class,
                        found -> assertThat(found.state().run()).isNotEqualTo("run-1"));
    }

    @Test
    void aRefusalThatIsNotOfTheRunLeavesTheRunAsItIs() {
        server.replies.set(0, new Reply(403, "{\"detail\":\"another pod\"}"));
        Reporter reporter = reporter(41);

        reporter.report();
        reporter.report();

        assertThat(server.received)
                .extracting(received -> String.valueOf(received.report().get("sequence")))
                .containsExactly("42", "43");
    }

    @Test
    void case45_afterTenMinutesWithoutTheTimekeeperOneReportHasEverything() {
        Reporter reporter = reporter(0);
        server.replies.clear();
        for (int i = 0; i < 60; i++) {
            server.replies.add(new Reply(503, "{}"));
        }
        server.replies.add(new Reply(200, OK));

        for (int i = 0; i < 60; i++) {
            assertThat(reporter.report()).isInstanceOf(Answer.Unavailable.class);
        }
        assertThat(reporter.report()).isInstanceOf(Answer.Taken.class);

        assertThat(server.received.getLast().report().toString())
                .contains("gpuMicroseconds=" + busy)
                .contains("sequence=61");
        assertThat(events).containsExactly("not delivered", "delivering 61");
        assertThat(reporter.taken()).isEqualTo(1);
        assertThat(reporter.notTaken()).isEqualTo(60);
    }

    @Test
    void case45_eachReportHasItsOwnSequenceEvenWithoutAnAnswer() {
        server.replies.set(0, new Reply(503, "{}"));
        Reporter reporter = reporter(0);
        reporter.report();
        reporter.report();

        assertThat(server.received)
                .extracting(received -> String.valueOf(received.report().get("sequence")))
                .containsExactly("1", "2");
    }

    @Test
    void countersAreOnDiskBeforeTheyGoOut() {
        Reporter reporter = reporter(7);

        reporter.report();

        assertThat(stateFile.load())
                .isInstanceOfSatisfying(
                        StateFile.Loaded.Found.class,
                        found -> assertThat(found.state().sequence()).isEqualTo(8));
    }

    @Test
    void theNextAuthorityIsKeptForTheNextProcess() throws Exception {
        try (FakeTimekeeper successor = new FakeTimekeeper()) {
            String bundle = server.ca() + successor.ca();
            server.replies.set(
                    0,
                    new Reply(
                            200,
                            OK.replace("}", ",\"ca\":\"" + bundle.replace("\n", "\\n") + "\"}")));

            reporter(0).report();

            assertThat(timekeeper.ca()).isEqualTo(bundle);
            assertThat(stateFile.loadCa()).isEqualTo(bundle);
            assertThat(events).contains("authority changed");
        }
    }

    @Test
    void anInvalidAuthorityIsIgnored() {
        server.replies.set(0, new Reply(200, OK.replace("}", ",\"ca\":\"rubbish\"}")));
        Reporter reporter = reporter(0);
        reporter.report();

        assertThat(timekeeper.ca()).isEqualTo(server.ca());
        assertThat(reporter.report()).isInstanceOf(Answer.Taken.class);
    }

    @Test
    void aDiskThatCannotBeWrittenIsLoggedOnceAndStopsNoReport() {
        stateFile = new StateFile(directory.resolve("missing"));
        Reporter reporter = reporter(0);

        reporter.report();
        reporter.report();

        assertThat(server.received).hasSize(2);
        assertThat(events).containsOnlyOnce("state not saved");
    }

    @ParameterizedTest(name = "case 44: {0}")
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "{\"version\":2}",
                "{\"version\":1,\"run\":\"r\"}",
                "{\"version\":1,\"run\":\"r\",\"sequence\":-1,\"bootId\":\"b\",\"startedMicros\":0,"
                        + "\"savedMicros\":0,\"devices\":[]}",
                "\u0000\u0000\u0000"
            })
    void case44_aCorruptStateFileBeginsANewRun(String text) throws IOException {
        Files.writeString(directory.resolve("meter.json"), text);

        assertThat(stateFile.load()).isInstanceOf(StateFile.Loaded.Unusable.class);
    }

    @Test
    void savedStateIsReadBackUnchanged() throws IOException {
        StateFile.State state =
                new StateFile.State(
                        "run \"1\"",
                        3,
                        new Snapshot(
                                "boot",
                                -5,
                                6,
                                List.of(
                                        new Snapshot.Device(
                                                "GPU-1",
                                                7,
                                                8,
                                                9,
                                                List.of(
                                                        new Snapshot.Pod(
                                                                "a",
                                                                new PodName("team-a", "trainer"),
                                                                Basis.DEVICE,
                                                                1,
                                                                Map.of(
                                                                        Basis.PROCESS,
                                                                        2L,
                                                                        Basis.DEVICE,
                                                                        6L),
                                                                9,
                                                                3,
                                                                4,
                                                                5,
                                                                6,
                                                                7),
                                                        new Snapshot.Pod(
                                                                "b",
                                                                null,
                                                                Basis.ALLOCATION,
                                                                1,
                                                                Map.of(),
                                                                0,
                                                                3,
                                                                4,
                                                                5,
                                                                0,
                                                                0))),
                                        new Snapshot.Device("GPU-2", 1, 1, 1, List.of()))));

        stateFile.save(state);

        assertThat(stateFile.load()).isEqualTo(new StateFile.Loaded.Found(state));
        assertThat(directory.resolve("meter.json.next")).doesNotExist();
    }

    @Test
    void whatAnEarlierAgentLeftIsReadAsCountedOnTheBasisThatItNames() throws IOException {
        Files.writeString(
                directory.resolve("meter.json"),
                """
                {"version":1,"run":"run-1","sequence":3,"bootId":"boot","startedMicros":-5,
                "savedMicros":6,"devices":[{"uuid":"GPU-1","settledMicros":7,"rowsFrom":8,
                "unattributed":9,"pods":[{"uid":"a","measuredBy":"DEVICE","lastPresentMicros":1,
                "busy":2,"memory":3,"covered":4,"uncovered":5}]}]}
                """);

        assertThat(pods())
                .containsExactly(
                        new Snapshot.Pod(
                                "a",
                                null,
                                Basis.DEVICE,
                                1,
                                Map.of(Basis.DEVICE, 2L),
                                2,
                                3,
                                4,
                                5,
                                0,
                                0));
    }

    @Test
    void howBusyAPodWasAtMostBesideOthersAnEarlierAgentDidNotSay() throws IOException {
        Files.writeString(
                directory.resolve("meter.json"),
                """
                {"version":1,"run":"run-1","sequence":3,"bootId":"boot","startedMicros":-5,
                "savedMicros":6,"devices":[{"uuid":"GPU-1","settledMicros":7,"rowsFrom":8,
                "unattributed":9,"pods":[{"uid":"a","measuredBy":"PROCESS","lastPresentMicros":1,
                "busy":2,"memory":3,"covered":4,"uncovered":5}]}]}
                """);

        assertThat(pods().getFirst().atMostHundredths()).isEqualTo(400);
    }

    private List<Snapshot.Pod> pods() {
        return stateFile.load() instanceof StateFile.Loaded.Found found
                ? found.state().snapshot().devices().getFirst().pods()
                : List.of();
    }

    private final class Recorder implements ReportEvents {

        @Override
        public void delivering(long sequence) {
            events.add("delivering " + sequence);
        }

        @Override
        public void notDelivered(String reason) {
            events.add("not delivered");
        }

        @Override
        public void runRefused(String run, String nextRun, String reason) {
            events.add("run refused: " + reason);
        }

        @Override
        public void modeChanged(Answer.Mode mode) {
            events.add("mode " + mode);
        }

        @Override
        public void authorityChanged() {
            events.add("authority changed");
        }

        @Override
        public void stateNotSaved(String reason) {
            events.add("state not saved");
        }
    }
}

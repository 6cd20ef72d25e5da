package io.gpusharing.deviceplugin.mps.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.mps.Answer;
import io.gpusharing.deviceplugin.mps.DaemonOrder;
import io.gpusharing.deviceplugin.mps.DaemonState;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.deviceplugin.mps.MpsControl;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.deviceplugin.mps.ProcessEnds;
import io.gpusharing.deviceplugin.mps.ShortFolder;
import io.gpusharing.deviceplugin.mps.fake.FakeMps.Behaviour;
import io.gpusharing.deviceplugin.mps.fake.RunningMps;
import io.gpusharing.nvml.ComputeMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Real processes, played MPS. */
class GpuDaemonTest {

    private static final DaemonOrder SHARED = new DaemonOrder(true, 1, 0);
    private static final int MOST_CLIENTS = 48;

    @TempDir(factory = ShortFolder.class)
    private Path root;

    private RunningMps mps;
    private GpuDaemon daemon;
    private final List<ComputeMode> modes = new ArrayList<>();
    private final SortedSet<Long> processes = new TreeSet<>();
    private final PlayedDevices devices = new PlayedDevices("9.0", processes);
    private final List<String> failures = new ArrayList<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @BeforeEach
    void install() throws IOException {
        mps = RunningMps.install(root);
        daemon = daemon(Duration.ofSeconds(20));
    }

    @AfterEach
    void end() throws IOException {
        daemon.stopped("");
        mps.close();
    }

    private GpuDaemon daemon(Duration mostOfCheck) {
        return daemon(new Canary(mps.trying(), mostOfCheck, new Semaphore(1)));
    }

    private GpuDaemon daemon(Canary canary) {
        return new GpuDaemon(
                mps.folder(),
                mps.program(),
                control(),
                canary,
                new GpuDaemon.Gpus((gpu, mode) -> modes.add(mode), devices, MOST_CLIENTS),
                failures::add,
                () -> now);
    }

    private MpsControl control() {
        return new MpsControl(mps.program(), mps.folder(), Duration.ofSeconds(20), it -> {});
    }

    private DaemonState step(DaemonOrder order) throws IOException {
        order.write(mps.folder());
        daemon.step();
        return DaemonState.read(mps.folder());
    }

    @Test
    void aWantedDaemonIsReadyOnceAClientGotSomethingDone() throws IOException {
        assertThat(step(SHARED)).isEqualTo(new DaemonState(Phase.Ready, 1, 0, "9.0", ""));

        assertThat(control().servers()).isInstanceOf(Answer.Told.class);
        assertThat(modes).containsExactly(ComputeMode.EXCLUSIVE_PROCESS);
    }

    @Test
    void whatIsNotWantedAnyMoreEndsAndItsGpuIsEverybodys() throws IOException {
        step(SHARED);

        assertThat(step(DaemonOrder.NONE).phase()).isEqualTo(Phase.Stopped);

        assertThat(control().servers()).isInstanceOf(Answer.Failed.class);
        assertThat(modes).endsWith(ComputeMode.DEFAULT);
    }

    @Test
    void aDaemonThatEndsIsStartedAgainAfterAPause() throws Exception {
        step(SHARED);
        kill();

        assertThat(step(SHARED).phase()).isEqualTo(Phase.Failed);
        assertThat(step(SHARED).reason()).contains("the daemon ended with");
        now = now.plusSeconds(1);
        assertThat(step(SHARED).phase()).isEqualTo(Phase.Ready);
        assertThat(failures).containsExactly(mps.folder().gpu());
    }

    private static void kill() {
        ProcessHandle.current()
                .children()
                .filter(it -> it.info().arguments().map(List::of).orElse(List.of()).contains("-f"))
                .forEach(it -> {
                    it.destroyForcibly();
                    it.onExit().join();
                });
    }

    @Test
    void aServerThatOutlivesItsDaemonIsEndedBeforeTheNextOneStarts() throws Exception {
        step(SHARED);
        ProcessHandle server = mps.server().orElseThrow();
        kill();
        assertThat(server.isAlive()).isTrue();

        step(SHARED);
        now = now.plusSeconds(1);

        assertThat(step(SHARED).phase()).isEqualTo(Phase.Ready);
        assertThat(ProcessEnds.hasEnded(server)).isTrue();
        assertThat(mps.server()).isPresent();
    }

    @Test
    void whoIsOnAGpuThatDoesNotWorkIsNamed() throws IOException {
        mps.behave(Behaviour.ClientsUnavailable);
        processes.addAll(List.of(4711L, 17L));

        assertThat(step(SHARED).reason())
                .contains("answered 46", "Still on the GPU are the processes 17, 4711");
    }

    @Test
    void aContainerThatRunsReachesTheNextDaemonByTheFolderThatItHas() throws Exception {
        step(SHARED);
        assertThat(mps.client("hold", mps.folder().client()).isAlive()).isTrue();
        kill();
        step(SHARED);
        now = now.plusSeconds(1);
        step(SHARED);

        Process next = mps.client("hold", mps.folder().client());

        assertThat(control().clients()).isEqualTo(new Answer.Told<>(List.of(next.pid())));
        assertThat(mps.folder().client().toFile().list()).containsExactly("control");
    }

    @Test
    void pausesBetweenFailuresGrowAndADaemonThatStartsBringsClientsBack() throws IOException {
        mps.behave(Behaviour.NoStart);

        assertThat(step(SHARED).reason()).contains("before it had opened its socket");
        now = now.plusSeconds(1);
        step(SHARED);
        now = now.plusSeconds(1);
        step(SHARED);

        assertThat(failures).hasSize(2);
        mps.behave();
        now = now.plusSeconds(1);
        assertThat(step(SHARED).phase()).isEqualTo(Phase.Ready);
    }

    @Test
    void aServerThatHangsWhenItStartsIsEndedAfterItsTime() throws IOException {
        daemon = daemon(Duration.ofSeconds(1));
        mps.behave(Behaviour.ClientsHang);

        assertThat(step(SHARED).reason()).contains("a new client got nothing done in 1 s");
        assertThat(control().servers()).isInstanceOf(Answer.Failed.class);
    }

    @Test
    void whereAKillHasWedgedTheServerTheDaemonIsStartedAnew() throws Exception {
        daemon = daemon(Duration.ofSeconds(3));
        step(SHARED);
        mps.behave(Behaviour.WedgedByAKill);
        Process beside = mps.client("hold");
        Process victim = mps.client("work");
        victim.destroyForcibly().waitFor();
        assertThat(beside.waitFor()).isEqualTo(3);

        DaemonState wedged = step(new DaemonOrder(true, 1, 1));

        assertThat(wedged.phase()).isEqualTo(Phase.Failed);
        assertThat(wedged.check()).isEqualTo(1);
        now = now.plusSeconds(1);
        assertThat(step(new DaemonOrder(true, 1, 1)))
                .isEqualTo(new DaemonState(Phase.Ready, 1, 1, "9.0", ""));
    }

    @Test
    void aCheckOfAServerThatWorksDisturbsNobody() throws Exception {
        step(SHARED);
        Process beside = mps.client("work");

        assertThat(step(new DaemonOrder(true, 1, 7)).check()).isEqualTo(7);
        assertThat(beside.isAlive()).isTrue();
    }

    @Test
    void aGpuWithAllItsClientsWorksThoughItTakesNoOther() throws IOException {
        step(SHARED);
        mps.connect(MOST_CLIENTS);

        assertThat(step(new DaemonOrder(true, 1, 1)))
                .isEqualTo(new DaemonState(Phase.Ready, 1, 1, "9.0", ""));
        assertThat(control().clients())
                .isInstanceOfSatisfying(
                        Answer.Told.class,
                        told -> assertThat((List<?>) told.value()).hasSize(MOST_CLIENTS));
    }

    @Test
    void aGpuThatTakesNobodyThoughItHasFewClientsDoesNotWork() throws IOException {
        step(SHARED);
        mps.connect(1);
        mps.behave(Behaviour.ClientsUnavailable);

        assertThat(step(new DaemonOrder(true, 1, 1)).reason())
                .contains("cuDevicePrimaryCtxRetain answered 46");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "/nowhere/java | cannot be started",
                "kill -9 $$ | ended with 137",
                "echo Could not reserve enough space; exit 1 | ended with 1: Could not reserve"
            })
    void aCheckThatCannotBeMadeEndsNobodyAndIsMadeAgain(String check, String reason)
            throws Exception {
        Path script = root.resolve("check");
        checkIs(script, mps.trying().command().getFirst() + " client try 0");
        daemon =
                daemon(
                        new Canary(
                                new MpsProgram(List.of(script.toString()), Map.of()),
                                Duration.ofSeconds(20),
                                new Semaphore(1)));
        step(SHARED);
        Process beside = mps.client("work");

        if (check.startsWith("/")) {
            Files.delete(script);
        } else {
            checkIs(script, check);
        }
        DaemonState unknown = step(new DaemonOrder(true, 1, 1));

        assertThat(unknown.phase()).isEqualTo(Phase.Ready);
        assertThat(unknown.check()).isZero();
        assertThat(unknown.reason()).contains(reason);
        assertThat(beside.isAlive()).isTrue();
        checkIs(script, mps.trying().command().getFirst() + " client try 0");
        now = now.plusSeconds(5);
        assertThat(step(new DaemonOrder(true, 1, 1)))
                .isEqualTo(new DaemonState(Phase.Ready, 1, 1, "9.0", ""));
        assertThat(failures).isEmpty();
    }

    private static void checkIs(Path script, String command) throws IOException {
        Files.writeString(script, "#!/bin/sh\n" + command + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void aDaemonThatDoesNotAnswerIsNotEndedUnderItsClients() throws Exception {
        step(SHARED);
        Process beside = mps.client("work");
        mps.behave(Behaviour.CommandsNonsense);

        DaemonState unknown = step(new DaemonOrder(true, 1, 1));

        assertThat(unknown.phase()).isEqualTo(Phase.Ready);
        assertThat(unknown.reason()).contains("get_server_list");
        assertThat(beside.isAlive()).isTrue();
        mps.behave();
        now = now.plusSeconds(5);
        assertThat(step(new DaemonOrder(true, 1, 1)).check()).isEqualTo(1);
    }

    @Test
    void aDaemonThatDidNotWorkIsInDoubtUntilAClientGotSomethingDone() throws IOException {
        new DaemonState(Phase.Failed, 1, 0, "", "a new client got nothing done in 20 s")
                .write(mps.folder());

        daemon.begin();

        DaemonState starting = DaemonState.read(mps.folder());
        assertThat(starting.phase()).isEqualTo(Phase.Starting);
        assertThat(starting.reason()).contains("nothing done");
        assertThat(step(SHARED).reason()).isEmpty();
    }

    @Test
    void whatIsToldSaysWhichChangeItFollows() throws IOException {
        step(SHARED);

        assertThat(step(new DaemonOrder(false, 2, 0)))
                .isEqualTo(new DaemonState(Phase.Stopped, 2, 0, "9.0", ""));
        assertThat(step(new DaemonOrder(true, 3, 0)).change()).isEqualTo(3);
    }

    @Test
    void clientsThatFailAtOnceSayWhatCudaSaid() throws IOException {
        mps.behave(Behaviour.ClientsFail);

        assertThat(step(SHARED).reason()).contains("cuInit answered 805");
    }

    @Test
    void whatRanBeforeThisProgramStartedIsNotTakenForReady() throws IOException {
        SHARED.write(mps.folder());
        new DaemonState(Phase.Ready, 1, 3, "9.0", "").write(mps.folder());

        daemon.begin();

        assertThat(DaemonState.read(mps.folder()).phase()).isEqualTo(Phase.Starting);
    }

    @Test
    void aGpuThatCannotBeMadeExclusiveIsNotShared() throws IOException {
        daemon =
                new GpuDaemon(
                        mps.folder(),
                        mps.program(),
                        control(),
                        new Canary(mps.trying(), Duration.ofSeconds(20), new Semaphore(1)),
                        new GpuDaemon.Gpus(
                                (gpu, mode) -> {
                                    if (mode == ComputeMode.EXCLUSIVE_PROCESS) {
                                        throw new IOException("NO_PERMISSION");
                                    }
                                },
                                devices,
                                MOST_CLIENTS),
                        failures::add,
                        () -> now);

        assertThat(step(SHARED))
                .isEqualTo(new DaemonState(Phase.Failed, 1, 0, "", "NO_PERMISSION"));
    }
}

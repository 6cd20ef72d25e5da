package io.gpusharing.deviceplugin.mps.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.mps.DaemonOrder;
import io.gpusharing.deviceplugin.mps.DaemonState;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.deviceplugin.mps.ShortFolder;
import io.gpusharing.deviceplugin.mps.fake.FakeMps.Behaviour;
import io.gpusharing.deviceplugin.mps.fake.RunningMps;
import io.gpusharing.nvml.ComputeMode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real threads and processes, played MPS. */
@Timeout(120)
class DaemonSupervisorTest {

    @TempDir(factory = ShortFolder.class)
    private Path root;

    private final List<ComputeMode> modes = new CopyOnWriteArrayList<>();
    private RunningMps mps;

    @BeforeEach
    void install() throws IOException {
        mps = RunningMps.install(root);
    }

    private DaemonSupervisor supervisor() {
        return supervisor((gpu, mode) -> modes.add(mode));
    }

    private DaemonSupervisor supervisor(ComputeModes setting) {
        return new DaemonSupervisor(
                root,
                mps.program(),
                new Canary(mps.trying(), Duration.ofSeconds(30), new Semaphore(1)),
                new GpuDaemon.Gpus(
                        setting, new PlayedDevices("8.0", Collections.emptySortedSet()), 48));
    }

    private DaemonState await(Phase phase) throws IOException {
        DaemonState state = DaemonState.read(mps.folder());
        while (state.phase() != phase) {
            Thread.onSpinWait();
            state = DaemonState.read(mps.folder());
        }
        return state;
    }

    @Test
    void runsWhatIsWantedAndGivesTheGpuBackWhenItEnds() throws IOException {
        try (DaemonSupervisor supervisor = supervisor()) {
            new DaemonOrder(true, 1, 0).write(mps.folder());
            supervisor.look();
            supervisor.look();

            assertThat(await(Phase.Ready).computeCapability()).isEqualTo("8.0");
        }

        assertThat(DaemonState.read(mps.folder()).phase()).isEqualTo(Phase.Stopped);
        assertThat(modes).containsExactly(ComputeMode.EXCLUSIVE_PROCESS, ComputeMode.DEFAULT);
    }

    @Test
    void aGpuThatCannotBeGivenBackAtOnceIsTriedAgain() throws IOException {
        var refused = new AtomicInteger();
        ComputeModes reluctant =
                (gpu, mode) -> {
                    if (mode == ComputeMode.DEFAULT && refused.incrementAndGet() < 3) {
                        throw new IOException("IN_USE");
                    }
                    modes.add(mode);
                };
        try (DaemonSupervisor supervisor = supervisor(reluctant)) {
            new DaemonOrder(true, 1, 0).write(mps.folder());
            supervisor.look();
            await(Phase.Ready);
        }

        assertThat(DaemonState.read(mps.folder()).phase()).isEqualTo(Phase.Stopped);
        assertThat(modes).containsExactly(ComputeMode.EXCLUSIVE_PROCESS, ComputeMode.DEFAULT);
    }

    @Test
    void countsDaemonsThatDoNotWork() throws IOException {
        mps.behave(Behaviour.NoStart);
        try (DaemonSupervisor supervisor = supervisor()) {
            new DaemonOrder(true, 1, 0).write(mps.folder());
            supervisor.look();
            await(Phase.Failed);

            assertThat(supervisor.failures()).containsOnlyKeys(mps.folder().gpu());
        }
    }

    @Test
    void aClientInJavaSaysWhatTheDriversLibraryLacks() {
        var client =
                new MpsProgram(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                CheckClient.class.getName(),
                                "libc.so.6"),
                        Map.of());

        assertThat(new Canary(client, Duration.ofSeconds(60), new Semaphore(1)).run(mps.folder()))
                .isEqualTo(
                        new Canary.Result.Failed(
                                "a new client failed: the driver's library has no cuInit (it ended with 3)"));
    }
}

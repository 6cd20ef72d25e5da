package io.gpusharing.deviceplugin.mps.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpusharing.deviceplugin.mps.ProcessEnds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code nvidia-cuda-mps-control} and CUDA programs, for nodes without a GPU: those of the
 * workshop's nodes ({@code tools/workshop/mps.c}), as driver 580 was seen to behave. Where there is
 * no C compiler, tests that need them are not run.
 */
public final class FakeMps {

    /** Beside the daemon's logs. */
    static final String BEHAVIOUR = "behaviour";

    /** Beside it: the number of the server's process. */
    static final String SERVER = "server";

    private static final Path SOURCE = Path.of("../tools/workshop/mps.c");
    private static final Path COMPILER = Path.of("/usr/bin/cc");

    private static @Nullable Path compiled;

    /** What goes wrong. */
    public enum Behaviour {
        /** The daemon ends as soon as it is started. */
        NoStart,
        /** Commands are never answered. */
        CommandsHang,
        /** The control program is killed before it has answered. */
        CommandsDie,
        /** Answers are none that anybody knows. */
        CommandsNonsense,
        /** Whoever asks has no rights. */
        CommandsRefused,
        /** Of two that are connected at once only the first is answered. */
        CommandsCollide,
        /** New clients get nothing done. */
        ClientsHang,
        /** New clients fail at once. */
        ClientsFail,
        /** New clients are told that another process has the GPU. */
        ClientsUnavailable,
        /** After a client was killed in its work new ones get nothing done. */
        WedgedByAKill
    }

    private FakeMps() {}

    /** The program, compiled once. */
    static synchronized Path program() throws IOException {
        Path known = compiled;
        if (known != null) {
            return known;
        }
        assumeTrue(Files.isExecutable(COMPILER), "no C compiler here, so nothing plays MPS");
        Path program = Path.of("target/nvidia-cuda-mps-control").toAbsolutePath();
        Process process =
                new ProcessBuilder(
                                List.of(
                                        COMPILER.toString(),
                                        "-O1",
                                        "-o",
                                        program.toString(),
                                        SOURCE.toString()))
                        .inheritIO()
                        .start();
        assertThat(process.onExit().join().exitValue()).isZero();
        compiled = program;
        return program;
    }

    static void kill(ProcessHandle process) {
        process.destroyForcibly();
        ProcessEnds.await(List.of(process), Duration.ofSeconds(20));
        assertThat(ProcessEnds.hasEnded(process)).isTrue();
    }
}

package io.gpusharing.deviceplugin.mps;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.mps.Answer.Failed;
import io.gpusharing.deviceplugin.mps.Answer.Failure;
import io.gpusharing.deviceplugin.mps.Answer.Told;
import io.gpusharing.deviceplugin.mps.MpsControl.Termination;
import io.gpusharing.deviceplugin.mps.fake.FakeMps;
import io.gpusharing.deviceplugin.mps.fake.FakeMps.Behaviour;
import io.gpusharing.deviceplugin.mps.fake.RunningMps;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The control program, played by {@link FakeMps}. */
class MpsControlTest {

    @TempDir(factory = ShortFolder.class)
    private Path folder;

    private final List<Failure> counted = new ArrayList<>();
    private RunningMps mps;

    @BeforeEach
    void start() throws Exception {
        mps = RunningMps.start(folder);
    }

    @AfterEach
    void end() {
        mps.close();
    }

    private MpsControl control(Duration most) {
        return new MpsControl(mps.program(), mps.folder(), most, counted::add);
    }

    private MpsControl control() {
        return control(Duration.ofSeconds(20));
    }

    @Test
    void beforeTheFirstClientThereIsNoServer() {
        assertThat(control().servers()).isEqualTo(new Told<>(List.of()));
        assertThat(control().clients()).isEqualTo(new Told<>(List.of()));
    }

    @Test
    void clientsAreListedByTheNumbersOfTheirProcesses() throws Exception {
        Process first = mps.client("hold");
        Process second = mps.client("hold");

        assertThat(control().clients()).isEqualTo(new Told<>(List.of(first.pid(), second.pid())));
        assertThat(control().status(server())).isEqualTo(new Told<>("ACTIVE"));
    }

    @Test
    void aClientIsEndedAndTheOthersLive() throws Exception {
        Process victim = mps.client("work");
        Process beside = mps.client("hold");

        assertThat(control().terminate(server(), victim.pid()))
                .isEqualTo(new Told<>(Termination.Terminated));

        assertThat(victim.waitFor()).isEqualTo(3);
        assertThat(beside.isAlive()).isTrue();
        assertThat(control().terminate(server(), victim.pid()))
                .isEqualTo(new Told<>(Termination.Gone));
    }

    private long server() {
        return ((Told<List<Long>>) control().servers()).value().getFirst();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "CommandsDie, Died, ended with 137",
        "CommandsNonsense, Nonsense, segmentation 7 fault",
    })
    void whatGoesWrongHasANameAndASentence(Behaviour what, Failure failure, String sentence)
            throws IOException {
        mps.behave(what);

        assertThat(control().servers())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> {
                            assertThat(failed.failure()).isEqualTo(failure);
                            assertThat(failed.sentence())
                                    .contains(mps.folder().gpu(), "get_server_list", sentence);
                        });
        assertThat(counted).containsExactly(failure);
    }

    @Test
    void aDaemonThatDoesNotAnswerIsNotWaitedForForever() throws IOException {
        mps.behave(Behaviour.CommandsHang);

        assertThat(control(Duration.ofSeconds(1)).servers())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> {
                            assertThat(failed.failure()).isEqualTo(Failure.Hanging);
                            assertThat(failed.sentence()).contains("no answer in 1 s");
                        });
    }

    /** Whether the output ends with the program or is waited for in vain is a matter of moments. */
    @Test
    @Timeout(60)
    void aProgramThatLeavesItsOutputToAChildIsNotWaitedForEither() throws IOException {
        var program = new MpsProgram(List.of(script("sleep 600 & exit 0")), Map.of());
        var control = new MpsControl(program, mps.folder(), Duration.ofSeconds(1), counted::add);

        assertThat(control.servers()).isInstanceOfAny(Told.class, Failed.class);
    }

    private String script(String text) throws IOException {
        Path script = Files.writeString(folder.resolve("script"), "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return script.toString();
    }

    /** The device plugin has one of these, and the program that runs the daemons another one. */
    @Test
    void aDaemonIsToldOneThingAtATime() throws Exception {
        mps.client("hold");
        mps.behave(Behaviour.CommandsCollide);
        List<MpsControl> controls = List.of(control(), control(), control(), control());

        try (var atOnce = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Answer<List<Long>>>> asking =
                    controls.stream().<Callable<Answer<List<Long>>>>map(it -> it::servers).toList();
            for (var answer : atOnce.invokeAll(asking)) {
                assertThat(answer.get()).isInstanceOf(Told.class);
            }
        }

        assertThat(mps.haveCommandsCollided()).isFalse();
    }

    /** A child of ours in place of the other container: the kernel keeps such locks by process. */
    @Test
    void aCommandWaitsForThatOfAnotherProcess() throws Exception {
        Process other =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Turn.class.getName(),
                                mps.folder().turn().toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (var said = other.inputReader()) {
            assertThat(said.readLine()).isEqualTo("taken");

            assertThat(control(Duration.ofMillis(300)).servers())
                    .isInstanceOfSatisfying(
                            Failed.class,
                            failed -> assertThat(failed.sentence()).contains("other commands"));
        } finally {
            other.destroyForcibly().waitFor();
        }

        assertThat(control().servers()).isInstanceOf(Told.class);
    }

    /** Takes a turn and keeps it. */
    static final class Turn {

        private Turn() {}

        public static void main(String[] args) throws Exception {
            try (var file =
                    FileChannel.open(
                            Path.of(args[0]),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE)) {
                file.lock();
                System.out.println("taken");
                new CountDownLatch(1).await();
            }
        }
    }

    @Test
    void aCommandThatFailsOnceIsToldAgain() throws IOException {
        Path once = folder.resolve("once");
        var program =
                new MpsProgram(
                        List.of(
                                script(
                                        "if mkdir %s 2>/dev/null; then exit 3; fi; echo 17"
                                                .formatted(once))),
                        Map.of());

        assertThat(
                        new MpsControl(program, mps.folder(), Duration.ofSeconds(10), counted::add)
                                .servers())
                .isEqualTo(new Told<>(List.of(17L)));
        assertThat(counted).isEmpty();
    }

    @Test
    void aRefusalSaysWhatTheDaemonSaid() throws Exception {
        Process client = mps.client("hold");
        long server = server();
        mps.behave(Behaviour.CommandsRefused);

        assertThat(control().terminate(server, client.pid()))
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> {
                            assertThat(failed.failure()).isEqualTo(Failure.Refused);
                            assertThat(failed.sentence()).contains("Insufficient privileges");
                        });
        assertThat(client.isAlive()).isTrue();
    }

    @Test
    void withoutADaemonNothingIsDone() {
        mps.close();

        assertThat(control().servers())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> assertThat(failed.failure()).isEqualTo(Failure.NoDaemon));
    }

    @Test
    void aProgramThatIsMissingSaysWhereItComesFrom() {
        var program = new MpsProgram(List.of("/nowhere/nvidia-cuda-mps-control"), Map.of());

        assertThat(
                        new MpsControl(program, mps.folder(), Duration.ofSeconds(1), counted::add)
                                .servers())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> {
                            assertThat(failed.failure()).isEqualTo(Failure.NoProgram);
                            assertThat(failed.sentence()).contains("NVIDIA_DRIVER_CAPABILITIES");
                        });
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"0", "-5", "17 18", "12345678901", "ACTIVE"})
    void aListWithAnythingButNumbersOfProcessesIsNotBelieved(String answer) throws IOException {
        var program = new MpsProgram(List.of(script("echo '" + answer + "'")), Map.of());

        assertThat(
                        new MpsControl(program, mps.folder(), Duration.ofSeconds(10), counted::add)
                                .servers())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> assertThat(failed.failure()).isEqualTo(Failure.Nonsense));
    }
}

package io.gpusharing.deviceplugin.start;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.cdi.Mgctl;
import io.gpusharing.deviceplugin.dialect.Metagpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The script that the plugin wrote, with the share that it wrote, in a container that is played by
 * folders. Programs are found in {@code bin} alone.
 */
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"sh", "busybox sh"})
class MgctlTest {

    private static final String ALONE =
            "mgctl: there is no nvidia-smi here, so nobody knows what processes use\n";

    private final List<String> shell;

    @TempDir private Path folder;
    private Path root;
    private Path bin;

    MgctlTest(String shell) {
        this.shell = List.of(shell.split(" ", -1));
    }

    /** What it printed, and how it ended. */
    private record Answer(String table, String said, int code) {}

    @BeforeEach
    void enter() throws IOException {
        assumeThat(installed(shell.getFirst())).as(shell.getFirst()).isPresent();
        root = Files.createDirectories(folder.resolve("root"));
        bin = Files.createDirectories(folder.resolve("bin"));
        Files.createSymbolicLink(
                bin.resolve("ls"), installed(shell.size() > 1 ? "busybox" : "ls").orElseThrow());
        Files.createSymbolicLink(bin.resolve("cat"), installed("cat").orElseThrow());
        process(1, "sh", "/dev/null");
        process(20, "nvidia-smi", "/dev/nvidiactl");
    }

    @Test
    void listsWhoHasTheGpuOpenWithWhatNvidiaSmiSaysOfThem() throws Exception {
        given(30);
        process(7, "python3", "/dev/nvidia0");
        process(12, "train", "/dev/nvidia0");
        nvidiaSmi(
                """
                7, GPU-0, 1024
                7, GPU-0, 1024
                12, GPU-0, 300
                """,
                """
                # gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command
                # Idx           #    C/G      %      %      %      %      %      %    name
                    0          7     C     24      5      -      -      -      -    python3
                    0          7     C     24      5      -      -      -      -    python3
                    0         12     C      -      -      -      -      -      -    train
                """);

        assertThat(mgctl(30, "get", "processes"))
                .isEqualTo(
                        new Answer(
                                """
                                POD     NS     DEVICE   NODE   GPU     MEMORY          PID       CMD               REQ
                                pod-a   team   0        -      -       300/4915        12        train             30
                                pod-a   team   0        -      80%     1024/4915       7         python3           30
                                1                                      1324MiB                                     30
                                """,
                                "", 0));
    }

    @Test
    void countsAllGpusOfAContainer() throws Exception {
        given(150);
        process(7, "python3", "/dev/nvidia1");
        nvidiaSmi(
                "7, GPU-0, 9000\n7, GPU-1, 1000\n",
                """
                # gpu        pid  type    sm   mem   enc   dec   command
                    0          7     C    90     5     -     -   python3
                    1          7     C    30     5     -     -   python3
                """);

        assertThat(mgctl(150, "g", "p"))
                .isEqualTo(
                        new Answer(
                                """
                                POD     NS     DEVICE   NODE   GPU     MEMORY          PID       CMD               REQ
                                pod-a   team   0:1      -      80%     10000/24576     7         python3           150
                                1                                      10000MiB                                    150
                                """,
                                "", 0));
    }

    @Test
    void withoutNvidiaSmiItSaysWhoAndNotHowMuch() throws Exception {
        given(30);
        process(7, "python3", "/dev/nvidia0");

        assertThat(mgctl(30, "get", "processes"))
                .isEqualTo(
                        new Answer(
                                """
                                POD     NS     DEVICE   NODE   GPU     MEMORY          PID       CMD               REQ
                                pod-a   team   0        -      -       -/4915          7         python3           30
                                1                                      -                                           30
                                """,
                                ALONE,
                                0));
    }

    @Test
    void aContainerOfWhichNoProcessHasTheGpuOpenHasARowAllTheSame() throws Exception {
        given(30);

        assertThat(mgctl(0, "get", "process"))
                .isEqualTo(
                        new Answer(
                                """
                                POD     NS     DEVICE   NODE   GPU     MEMORY          PID       CMD               REQ
                                pod-a   team   0        -      -       0/4915          -         -                 -
                                1                                      0MiB                                        -
                                """,
                                ALONE,
                                0));
    }

    /** As drivers from 535.113 to 560 do in containers. */
    @Test
    void noMemoryIsMemoryThatTheDriverDoesNotTell() throws Exception {
        given(30);
        process(7, "python3", "/dev/nvidia0");
        nvidiaSmi("7, GPU-0, 0\n", "    0          7     C     24      5   python3\n");

        assertThat(mgctl(30, "get", "processes").table())
                .contains("-      -       -/4915          7");
    }

    /** As drivers before 535.113 do in containers. */
    @Test
    void numbersOfTheNodesProcessesAreNotTakenForThoseOfTheContainer() throws Exception {
        given(30);
        process(7, "python3", "/dev/nvidia0");
        nvidiaSmi("7, GPU-0, 512\n4711, GPU-0, 2048\n4712, GPU-0, 2048\n", "");

        Answer answer = mgctl(30, "get", "processes");

        assertThat(answer.table()).contains("-/4915          7").doesNotContain("512");
        assertThat(answer.said())
                .isEqualTo(
                        "mgctl: nvidia-smi lists processes of other containers, so what it says cannot be told apart\n");
    }

    @Test
    void whereNvidiaSmiFailsItSaysSo() throws Exception {
        given(30);
        process(7, "python3", "/dev/nvidia0");
        program("nvidia-smi", "echo 'Failed to initialize NVML: Unknown Error'; exit 255");

        Answer answer = mgctl(30, "get", "processes");

        assertThat(answer.table()).contains("-/4915          7");
        assertThat(answer.said())
                .isEqualTo("mgctl: nvidia-smi fails, so nobody knows what processes use\n");
    }

    @Test
    void saysWhichProcessesItMayNotLookAt() throws Exception {
        given(30);
        Path unnamed = Files.createDirectories(root.resolve("proc/33/fd"));
        Files.createFile(unnamed.resolve("3"));
        Files.createDirectories(root.resolve("proc/34"));
        Files.createDirectories(root.resolve("proc/35/fd"));

        Answer answer = mgctl(30, "get", "processes");

        assertThat(answer.table()).contains("-/4915          -");
        assertThat(answer.said())
                .isEqualTo(
                        ALONE
                                + "mgctl: may not look at these processes, so they may use a GPU as well: 33 34\n");
    }

    @Test
    void withoutAShareItSaysWhoHasOne() throws Exception {
        assertThat(mgctl(0, "get", "processes"))
                .isEqualTo(
                        new Answer(
                                "",
                                "mgctl: cannot read %s/run/gpusharing/share.json, which every container has that GPUSharing gave a GPU\n"
                                        .formatted(root),
                                1));
    }

    @Test
    void withoutLsItSaysSo() throws Exception {
        given(30);
        Files.delete(bin.resolve("ls"));

        var without =
                new Answer(
                        "",
                        "mgctl: this image has no ls, which shows the files that a process has open\n",
                        1);
        // Some busyboxes have an ls that needs no file.
        assertThat(mgctl(30, "get", "processes"))
                .satisfiesAnyOf(
                        answer -> assertThat(answer).isEqualTo(without),
                        answer -> {
                            assertThat(shell).hasSize(2);
                            assertThat(answer.code()).isZero();
                        });
    }

    @Test
    void knowsOneCommand() throws Exception {
        var usage =
                new Answer(
                        "",
                        "mgctl: usage: mgctl get processes; it lists the processes of this container that have a GPU open, and knows no other command\n",
                        2);

        assertThat(mgctl(0)).isEqualTo(usage);
        assertThat(mgctl(0, "--help")).isEqualTo(usage);
        assertThat(mgctl(0, "get", "devices")).isEqualTo(usage);
        assertThat(mgctl(0, "get", "processes", "--watch")).isEqualTo(usage);
    }

    /** The plugin lets the container start that asks for so many units. */
    private void given(int units) throws Exception {
        var node = new FakeNode(Files.createDirectories(folder.resolve("node")));
        node.dialect = Metagpu.USUAL;
        node.restart();
        var asks =
                new ContainerRequest(
                        "cuda", Kind.App, Map.of("cnvrg.io/metagpu", Quantity.of(units)), Map.of());
        CdiDevice device = node.admit(node.pod("a", asks), "cuda", "g0-0");
        node.start("g0-0");
        Path shares = Files.createDirectories(root.resolve("run/gpusharing"));
        Files.writeString(shares.resolve("share.json"), node.share(device));
    }

    private void process(int pid, String name, String open) throws IOException {
        Path files = Files.createDirectories(root.resolve("proc/" + pid + "/fd"));
        Files.writeString(root.resolve("proc/" + pid + "/comm"), name + "\n");
        Files.createSymbolicLink(files.resolve("12"), Path.of(open));
    }

    private void nvidiaSmi(String memory, String samples) throws IOException {
        Path smi =
                program(
                        "nvidia-smi",
                        "case $1 in --query-compute-apps=*) cat $0.memory ;; pmon) cat $0.samples ;; esac");
        Files.writeString(smi.resolveSibling("nvidia-smi.memory"), memory);
        Files.writeString(smi.resolveSibling("nvidia-smi.samples"), samples);
    }

    private Path program(String name, String text) throws IOException {
        Path program = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + text + "\n");
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Answer mgctl(int units, String... arguments) throws Exception {
        var command = new ArrayList<>(shell);
        command.set(0, installed(shell.getFirst()).orElseThrow().toString());
        command.add(Mgctl.of(folder).script().toString());
        command.addAll(List.of(arguments));
        Path said = folder.resolve("said");
        var builder = new ProcessBuilder(command).redirectError(said.toFile());
        String ids = IntStream.range(0, units).mapToObj(id -> "g0-" + id).collect(joining(","));
        builder.environment().put("PATH", bin.toString());
        builder.environment().put("MGCTL_ROOT", root.toString());
        builder.environment().put("CNVRG_META_GPU_DEVICES", ids);
        Process process = builder.start();
        String table = new String(process.getInputStream().readAllBytes(), UTF_8);
        int code = process.waitFor();
        return new Answer(table, Files.readString(said), code);
    }

    private static Optional<Path> installed(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .map(place -> Path.of(place, program))
                .filter(Files::isExecutable)
                .findFirst();
    }
}

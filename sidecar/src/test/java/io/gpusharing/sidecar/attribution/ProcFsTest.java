package io.gpusharing.sidecar.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcFsTest {

    @TempDir Path directory;

    @Test
    void theStartTimeIsFoundWhateverTheCommandIsNamed() throws IOException {
        write("7/stat", "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2");

        assertThat(new ProcFs(directory).startTime(7)).contains("98765");
    }

    @Test
    void case48_aProcessThatEndsBetweenTwoReadsIsAbsentAndNoError() throws IOException {
        Files.createDirectories(directory.resolve("7"));
        ProcFs proc = new ProcFs(directory);

        assertThat(proc.exists(7)).isTrue();
        assertThat(proc.startTime(7)).isEmpty();
        assertThat(proc.cgroup(7)).isEmpty();
    }

    @Test
    void case48_whatMayNotBeReadIsAbsentToo() throws IOException {
        // A directory in a file's place cannot be read by anybody, not even by root.
        Files.createDirectories(directory.resolve("7/cgroup"));
        write("7/stat", "");

        assertThat(new ProcFs(directory).cgroup(7)).isEmpty();
        assertThat(new ProcFs(directory).startTime(7)).isEmpty();
    }

    @Test
    void aPauseProcessAtTheTopMeansASharedNamespace() throws IOException {
        write("1/comm", "pause\n");

        assertThat(new ProcFs(directory).sharesPodNamespace()).isTrue();
    }

    @Test
    void processesOfTwoContainersMeanASharedNamespace() throws IOException {
        write("1/comm", "sleep\n");
        write("1/cgroup", "0::/\n");
        assertThat(new ProcFs(directory).sharesPodNamespace()).isFalse();

        write("9/cgroup", "0::/../cri-containerd-" + "a".repeat(64) + ".scope\n");
        assertThat(new ProcFs(directory).sharesPodNamespace()).isTrue();
    }

    @Test
    void theRealProcNamesItsBoot() {
        assertThat(new ProcFs(Path.of("/proc")).bootId()).hasSize(36);
        assertThat(new ProcFs(Path.of("/proc")).startTime(ProcessHandle.current().pid()))
                .isPresent();
    }

    private void write(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}

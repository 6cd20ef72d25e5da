package io.gpusharing.e2e.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program, on a driver that a C compiler makes: each call as the C interface has it. */
class CudaProgramTest {

    @TempDir static Path folder;
    private static Path library;

    private int status;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        assumeThat(Path.of("/usr/bin/cc")).as("a C compiler").isExecutable();
        Path source = folder.resolve("libcuda.c");
        try (InputStream text = CudaProgramTest.class.getResourceAsStream("libcuda.c")) {
            Files.copy(Objects.requireNonNull(text), source);
        }
        library = folder.resolve("libcuda.so.1");
        Process compiler =
                new ProcessBuilder(
                                "/usr/bin/cc",
                                "-shared",
                                "-fPIC",
                                "-o",
                                library.toString(),
                                source.toString())
                        .inheritIO()
                        .start();
        assertThat(compiler.waitFor()).isZero();
    }

    @Test
    void itSaysWhatItSeesAndThatItComputesRight() throws IOException {
        JsonNode seen = runs("see").getFirst();

        assertThat(status).isZero();
        assertThat(seen.path("devices").asInt()).isOne();
        assertThat(seen.path("uuid").asText())
                .isEqualTo("GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
        assertThat(seen.path("multiprocessors").asInt()).isEqualTo(2);
        assertThat(seen.path("freeMiB").asInt()).isEqualTo(63);
        assertThat(seen.path("totalMiB").asInt()).isEqualTo(64);
        assertThat(seen.path("right").asBoolean()).isTrue();
    }

    @Test
    void itKnowsHowManyStepsTakeAMillisecond() throws IOException {
        JsonNode found = runs("calibrate").getFirst();

        // By the clock of a computer that does other things, too.
        assertThat(found.path("steps").asLong()).isBetween(100_000L, 1_100_000L);
    }

    @Test
    void itCountsTheKernelsOfALoad() throws IOException {
        JsonNode done = runs("load", "1000000", "10", "100", "1", "1").getLast();

        // Ten periods of ten kernels, or fewer where it falls behind.
        assertThat(done.path("kernels").asLong()).isBetween(10L, 100L);
    }

    @Test
    void itBeats() throws IOException {
        assertThat(runs("hold", "1", "0").getFirst().has("beat")).isTrue();
        assertThat(runs("spin", "100", "1").getFirst().has("spins")).isTrue();
        assertThat(status).isZero();
    }

    @Test
    void itTakesAllMemoryThereIs() throws IOException {
        JsonNode taken = runs("allocate", "8").getFirst();

        assertThat(taken.path("allocatedMiB").asInt()).isEqualTo(56);
        assertThat(taken.path("answer").asInt()).isEqualTo(2);
    }

    @Test
    void itFailsByItsFault() throws IOException {
        JsonNode failed = runs("fault").getFirst();

        assertThat(status).isEqualTo(CudaProgram.FAILED);
        assertThat(failed.path("failed").asText()).isEqualTo("cuCtxSynchronize");
        assertThat(failed.path("answer").asInt()).isEqualTo(700);
    }

    @Test
    void itTakesNoMoreMemoryThanThereIs() throws IOException {
        assertThat(runs("hold", "1", "100").getFirst().path("failed").asText())
                .isEqualTo("cuMemAlloc_v2");
    }

    private List<JsonNode> runs(String... words) throws IOException {
        var printed = new ByteArrayOutputStream();
        status =
                CudaProgram.run(
                        library.toString(),
                        new PrintStream(printed, true, StandardCharsets.UTF_8),
                        List.of(words));
        try (var lines =
                new ObjectMapper()
                        .readerFor(JsonNode.class)
                        .<JsonNode>readValues(printed.toByteArray())) {
            return lines.readAll();
        }
    }
}

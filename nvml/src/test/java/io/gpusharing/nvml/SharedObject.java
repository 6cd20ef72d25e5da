package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A library that this computer's C compiler makes; where there is none, the test is not run. */
final class SharedObject {

    private SharedObject() {}

    /** Compiles a source to {@code libnvidia-ml.so.1} in a folder. */
    static Path compile(Path source, Path folder) throws IOException, InterruptedException {
        String compiler =
                Stream.of("/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang")
                        .filter(path -> Files.isExecutable(Path.of(path)))
                        .findFirst()
                        .orElse("");
        assumeTrue(!compiler.isEmpty(), "no C compiler here, so no library was loaded by dlopen");
        Path library = folder.resolve("libnvidia-ml.so.1");
        Process process =
                new ProcessBuilder(
                                List.of(
                                        compiler,
                                        "-shared",
                                        "-fPIC",
                                        "-Wl,-soname,libnvidia-ml.so.1",
                                        "-o",
                                        library.toString(),
                                        source.toString()))
                        .inheritIO()
                        .start();
        assertThat(process.waitFor()).isZero();
        return library;
    }
}

package io.gpusharing.e2e.measurement;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The process of our device plugin, of which one runs on the nodes of this computer. */
final class PluginProcess {

    private PluginProcess() {}

    /** Empty while none runs. */
    static Optional<ProcessHandle> find() {
        return ProcessHandle.allProcesses()
                .filter(it ->
                        lines(it, "cmdline")
                                .collect(Collectors.joining())
                                .contains("deviceplugin.jar"))
                .findFirst();
    }

    /** Those of a file of it in {@code /proc}; none if it has ended. */
    static Stream<String> lines(ProcessHandle process, String file) {
        try {
            return Files.readAllLines(Path.of("/proc/" + process.pid(), file)).stream();
        } catch (IOException e) {
            return Stream.empty();
        }
    }
}

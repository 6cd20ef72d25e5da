package io.gpusharing.deviceplugin.mps;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's control program as it can be started here. It belongs to the driver, and no image has
 * it: a container runtime of NVIDIA's brings it along, or the driver's files are mounted.
 *
 * @param command with arguments if it needs any
 * @param environment in which it and the server that it starts find the driver's libraries
 */
public record MpsProgram(List<String> command, Map<String, String> environment) {

    private static final String NAME = "nvidia-cuda-mps-control";

    /** In the order in which NVML is looked for. */
    private static final List<Path> ROOTS =
            List.of(
                    Path.of("/"),
                    Path.of("/usr/local/nvidia"),
                    Path.of("/run/nvidia/driver"),
                    Path.of("/driver-root"));

    private static final List<String> PROGRAMS = List.of("usr/bin", "bin", "usr/local/bin");

    private static final List<String> LIBRARIES =
            List.of(
                    "usr/lib/x86_64-linux-gnu",
                    "usr/lib/aarch64-linux-gnu",
                    "usr/lib64",
                    "lib64",
                    "lib");

    public MpsProgram {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
    }

    /**
     * Looks for it. Where there is none the name is left to the search path, and whoever starts it
     * is told that it is missing.
     *
     * @param explicit where it is; empty to look for it
     */
    public static MpsProgram find(String explicit) {
        return explicit.isEmpty()
                ? find(ROOTS)
                : new MpsProgram(List.of(explicit), environment(Path.of(explicit), List.of()));
    }

    static MpsProgram find(List<Path> roots) {
        for (Path root : roots) {
            for (String folder : PROGRAMS) {
                Path program = root.resolve(folder).resolve(NAME);
                if (Files.isExecutable(program)) {
                    return new MpsProgram(
                            List.of(program.toString()),
                            environment(
                                    program,
                                    LIBRARIES.stream()
                                            .map(root::resolve)
                                            .filter(it -> Files.exists(it.resolve("libcuda.so.1")))
                                            .toList()));
                }
            }
        }
        return new MpsProgram(List.of(NAME), Map.of());
    }

    /** The daemon looks for its server on the search path. */
    private static Map<String, String> environment(Path program, List<Path> libraries) {
        var environment = new HashMap<String, String>();
        Path folder = program.getParent();
        if (folder != null) {
            environment.put("PATH", joined(folder, System.getenv("PATH")));
        }
        if (!libraries.isEmpty()) {
            String own = libraries.stream().map(Path::toString).collect(Collectors.joining(":"));
            environment.put("LD_LIBRARY_PATH", joined(own, System.getenv("LD_LIBRARY_PATH")));
        }
        return environment;
    }

    private static String joined(Object first, @Nullable String rest) {
        return rest == null || rest.isEmpty() ? first.toString() : first + ":" + rest;
    }

    /** Ready to be started with more arguments, for the daemon of a GPU. */
    public ProcessBuilder process(GpuFolder gpu, String... arguments) {
        var builder =
                new ProcessBuilder(Stream.concat(command.stream(), Stream.of(arguments)).toList());
        builder.environment().putAll(environment);
        builder.environment().put("CUDA_MPS_PIPE_DIRECTORY", gpu.pipe().toString());
        return builder.redirectErrorStream(true);
    }
}

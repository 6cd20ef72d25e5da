package io.gpusharing.deviceplugin.mps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the daemon of one GPU has its files: below {@code /run/gpusharing/mps}, never in {@code
 * /tmp/nvidia-mps}, which container runtimes mount into every container with a GPU.
 *
 * @param path of the folder, named after the GPU's UUID
 */
public record GpuFolder(Path path) {

    /** The folder of all of them, in that of the shares. */
    public static final String NAME = "mps";

    private static final String CONTROL = "control";

    /** What a socket's path may have, its closing zero byte included (unix(7)). */
    private static final int SUN_PATH = 108;

    /** The longest name among the daemon's sockets. */
    private static final String LONGEST = "control_privileged";

    /**
     * The folder of a GPU.
     *
     * @param root of all of them
     * @throws IOException if the daemon's sockets could not be made there
     */
    public static GpuFolder of(Path root, String uuid) throws IOException {
        var folder = new GpuFolder(root.resolve(uuid));
        int bytes = folder.pipe().resolve(LONGEST).toString().length() + 1;
        if (bytes > SUN_PATH) {
            throw new IOException(
                    "The path of the MPS socket %s has %d bytes; %d are the most. Choose a shorter GPUSHARING_SHARES_DIR"
                            .formatted(folder.pipe().resolve(LONGEST), bytes, SUN_PATH));
        }
        return folder;
    }

    /** All that are there. */
    public static List<GpuFolder> all(Path root) throws IOException {
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(root)) {
            return folders.filter(Files::isDirectory).sorted().map(GpuFolder::new).toList();
        }
    }

    /** The UUID of the GPU. */
    public String gpu() {
        return path.getFileName().toString();
    }

    /** Where the daemon makes its sockets: {@code CUDA_MPS_PIPE_DIRECTORY}. */
    public Path pipe() {
        return path.resolve("pipe");
    }

    /** The socket that clients need. */
    public Path control() {
        return pipe().resolve(CONTROL);
    }

    /**
     * What containers see, and nothing else of the folder: the socket alone. It is a folder, since
     * a socket that is mounted stays that of a daemon which has ended.
     */
    public Path client() {
        return path.resolve("client");
    }

    /** The socket as containers see it. */
    public Path offered() {
        return client().resolve(CONTROL);
    }

    /** Where the daemon logs: {@code CUDA_MPS_LOG_DIRECTORY}. */
    public Path log() {
        return path.resolve("log");
    }

    Path order() {
        return path.resolve("order.json");
    }

    Path state() {
        return path.resolve("state.json");
    }

    /** The file that a program locks while it tells the daemon something. */
    Path turn() {
        return path.resolve("command.lock");
    }
}

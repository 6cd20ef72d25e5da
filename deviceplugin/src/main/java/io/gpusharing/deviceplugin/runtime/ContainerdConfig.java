package io.gpusharing.deviceplugin.runtime;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Which programs start the containers of containerd.
 *
 * <p>What containerd adds up is added up here, too: what imported files say wins. Older releases
 * let a file replace a plugin's whole section rather than members of it, so there may be handlers
 * here that such a release does not have; what it has is never missing.
 */
final class ContainerdConfig {

    /**
     * The plugin that starts containers, in the versions 3, 2 and 1 of the configuration. A section
     * that belongs to another version than the file's does no harm.
     */
    private static final List<String> PLUGINS =
            List.of("io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "cri");

    private static final List<String> PROGRAM = List.of("options", "BinaryName");

    /** As version 1 had it. */
    private static final List<String> ENGINE = List.of("runtime_engine");

    private final NodeFiles files;
    private final Path folder;
    private final Set<Path> read = new HashSet<>();
    private final Map<String, String> programs = new TreeMap<>();
    private String defaultHandler = "runc";

    private ContainerdConfig(NodeFiles files, Path folder) {
        this.files = files;
        this.folder = folder;
    }

    /**
     * Reads a configuration with all that it imports.
     *
     * @throws IOException if one of these files cannot be read
     */
    static ContainerdConfig read(NodeFiles files, Path file) throws IOException {
        var config = new ContainerdConfig(files, file.resolveSibling(""));
        config.add(file);
        return config;
    }

    /** By which handler a container starts whose pod names no RuntimeClass. */
    String defaultHandler() {
        return defaultHandler;
    }

    /** The program of each handler, {@code runc} where none is named. */
    Map<String, String> programs() {
        return programs;
    }

    private void add(Path file) throws IOException {
        if (!read.add(file)) {
            return;
        }
        Toml content = Toml.read(files, file);
        for (String plugin : PLUGINS) {
            add(content, List.of("plugins", plugin, "containerd"));
        }
        for (String imported : content.texts(List.of("imports"))) {
            for (Path each : resolved(file.resolveSibling(imported).normalize())) {
                add(each);
            }
        }
    }

    private void add(Toml content, List<String> section) {
        content.text(with(section, "default_runtime_name"))
                .filter(name -> !name.isEmpty())
                .ifPresent(name -> defaultHandler = name);
        List<String> runtimes = with(section, "runtimes");
        for (String handler : content.members(runtimes)) {
            List<String> runtime = with(runtimes, handler);
            content.text(with(runtime, PROGRAM))
                    .or(() -> content.text(with(runtime, ENGINE)))
                    .filter(program -> !program.isEmpty())
                    .ifPresentOrElse(
                            program -> programs.put(handler, program),
                            () -> programs.putIfAbsent(handler, "runc"));
        }
    }

    /** Only the last part of a path may be a pattern here. */
    private List<Path> resolved(Path imported) throws IOException {
        Path parent = imported.getParent();
        Path name = imported.getFileName();
        if (parent == null || name == null || !name.toString().contains("*")) {
            return List.of(imported);
        }
        if (!files.isFolder(parent)) {
            if (parent.startsWith(folder)) {
                // Its folder is mounted, so this one is nowhere.
                return List.of();
            }
            throw new IOException(parent + " is not there, or not mounted into this pod");
        }
        return files.matching(parent, name.toString());
    }

    private static List<String> with(List<String> path, String member) {
        return with(path, List.of(member));
    }

    private static List<String> with(List<String> path, List<String> members) {
        return Stream.concat(path.stream(), members.stream()).toList();
    }
}

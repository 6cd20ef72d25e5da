package io.gpusharing.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The working copy that the tests run in: its scripts, its manifests and the jars that were built
 * in it.
 */
public final class Repository {

    private static final Path ROOT = findRoot();

    private Repository() {}

    public static Path root() {
        return ROOT;
    }

    /**
     * A program built by {@code tools/build}, for instance {@code kubectl}; an optimized one where
     * the environment asks for those, as measurements do.
     */
    public static Path tool(String name) {
        boolean optimized = System.getenv("OPTIMIZED") != null;
        return ROOT.resolve(optimized ? "tools/.bin/optimized" : "tools/.bin").resolve(name);
    }

    /**
     * The executable jar of a service.
     *
     * @param module its folder, for instance {@code webhook}
     * @throws IllegalStateException if it was not built yet
     */
    public static Path jar(String module) {
        var matcher =
                FileSystems.getDefault()
                        .getPathMatcher(
                                "regex:gpusharing-" + module + "-[0-9][^-]*(-SNAPSHOT)?\\.jar");
        var target = ROOT.resolve(module).resolve("target");
        try (var files = Files.list(target)) {
            List<Path> jars = files.filter(file -> matcher.matches(file.getFileName())).toList();
            if (jars.size() == 1) {
                return jars.getFirst();
            }
            throw new IllegalStateException(
                    "Expected one jar of " + module + " in " + target + ", found " + jars);
        } catch (IOException e) {
            throw new IllegalStateException(
                    target + " cannot be read: build first (mvn package -DskipTests)", e);
        }
    }

    private static Path findRoot() {
        try {
            for (Path dir = Path.of("").toRealPath(); dir != null; dir = dir.getParent()) {
                if (Files.isExecutable(dir.resolve("tools/cluster"))) {
                    return dir;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("Run this inside a working copy of the repository");
    }
}

package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Services as their images have them: unpacked, with the image's Java runtime, options and AOT
 * cache. {@code tools/services} lays them out. They start in a fifth of the processor time that
 * their jars want.
 */
final class LaidOutService {

    private LaidOutService() {}

    /** Whether a service is laid out, and from the jar that its module has now. */
    static boolean exists(String module) {
        Path source = folder(module).resolveSibling(module + ".jar");
        try {
            return Files.exists(source) && Files.mismatch(source, Repository.jar(module)) == -1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Java and its arguments, the jar last. */
    static List<String> command(String module, Path temporary) {
        Path folder = folder(module);
        return List.of(
                folder.resolve("java/bin/java").toString(),
                "@" + folder.resolve("jvm.options"),
                // A test ends before the second compiler pays.
                "-XX:TieredStopAtLevel=1",
                "-XX:AOTCache=" + folder.resolve(module + ".aot"),
                "-Djava.io.tmpdir=" + temporary,
                "-jar",
                folder.resolve(module + ".jar").toString());
    }

    private static Path folder(String module) {
        return Repository.root().resolve(".run/services").resolve(module);
    }
}

package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A service with its libraries beside it and its image's options, which {@code tools/services}
 * makes of its jar. The JVM keeps an archive of its classes, and writes it when there is none that
 * fits.
 */
final class UnpackedService {

    private UnpackedService() {}

    /** Whether a service is unpacked, and from the jar that its module has now. */
    static boolean exists(String module) {
        Path jar = jar(module);
        try {
            return Files.exists(jar)
                    && Files.getLastModifiedTime(jar)
                                    .compareTo(Files.getLastModifiedTime(Repository.jar(module)))
                            >= 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Java and its arguments, the jar last. */
    static List<String> command(String module, Path temporary) {
        Path folder = folder(module);
        return List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "@" + folder.resolve("jvm.options"),
                // A test ends before the second compiler pays.
                "-XX:TieredStopAtLevel=1",
                "-XX:+AutoCreateSharedArchive",
                "-XX:SharedArchiveFile=" + folder.resolveSibling(module + ".jsa"),
                "-Djava.io.tmpdir=" + temporary,
                "-jar",
                jar(module).toString());
    }

    private static Path jar(String module) {
        return folder(module).resolve(module + ".jar");
    }

    private static Path folder(String module) {
        return Repository.root().resolve(".run/services").resolve(module);
    }
}

package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.Script;
import java.nio.file.Path;
import java.util.List;

/**
 * A service with its libraries beside it and its image's options, which {@code tools/services}
 * makes of its jar. The JVM keeps an archive of its classes, and writes it when there is none that
 * fits.
 */
final class UnpackedService {

    private UnpackedService() {}

    /** Java and its arguments, the jar last. */
    static List<String> command(String module, Path temporary) {
        Script.run("tools/services", List.of());
        Path folder = Repository.root().resolve(".run/services").resolve(module);
        return List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "@" + folder.resolve("jvm.options"),
                // A test ends before the second compiler pays.
                "-XX:TieredStopAtLevel=1",
                "-XX:+AutoCreateSharedArchive",
                "-XX:SharedArchiveFile=" + folder.resolveSibling(module + ".jsa"),
                "-Djava.io.tmpdir=" + temporary,
                "-jar",
                folder.resolve(module + ".jar").toString());
    }
}

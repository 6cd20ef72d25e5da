package io.gpusharing.sidecar.meter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.LinkedHashMap;
import java.util.Map;

/** Stands in for a device plugin that gives GPUs to pods: it writes the file of its grants. */
final class FakeGrants {

    final Path file;
    private final Map<String, String> pods = new LinkedHashMap<>();
    private long writes;

    FakeGrants(Path folder) {
        this.file = folder.resolve("grants.json");
    }

    /** A pod gets hundredths of a GPU, beside what it has, and a GiB. */
    void give(String uid, String name, String gpu, int cores) throws IOException {
        give(uid, name, gpu, cores, 1_024, false);
    }

    /**
     * The same with other memory.
     *
     * @param mebibytes 0 for none in particular
     */
    void give(String uid, String name, String gpu, int cores, int mebibytes, boolean whole)
            throws IOException {
        String container =
                """
                {"name":"cuda-%s","kind":"App","gpus":[{"uuid":"%s","core":%d,"memoryMiB":%d,"whole":%b}]}\
                """
                        .formatted(gpu, gpu, cores, mebibytes, whole);
        pods.merge(
                uid,
                "{\"uid\":\"%s\",\"namespace\":\"team-a\",\"name\":\"%s\",\"containers\":[%s"
                        .formatted(uid, name, container),
                (before, same) -> before + "," + container);
        write();
    }

    /** A pod runs the MPS daemons of the node. */
    void runMpsDaemons(String uid) throws IOException {
        Files.writeString(file.resolveSibling("mps-pod"), uid);
    }

    /** A pod loses all that it has. */
    void take(String uid) throws IOException {
        pods.remove(uid);
        write();
    }

    private void write() throws IOException {
        Path draft = file.resolveSibling("grants.json.tmp");
        Files.writeString(
                draft,
                "{\"version\":1,\"pods\":[%s]}"
                        .formatted(
                                String.join(
                                        ",",
                                        pods.values().stream().map(pod -> pod + "]}").toList())));
        // A test writes faster than the file system's clock ticks.
        Files.setLastModifiedTime(draft, FileTime.fromMillis(++writes));
        Files.move(
                draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}

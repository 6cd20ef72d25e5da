package io.gpusharing.deviceplugin.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Tells one content of a file from the next without reading it.
 *
 * @param file which one lies at the path: one that is put in the place of another differs
 * @param modified when it was written last
 * @param size in bytes
 */
public record FileVersion(String file, FileTime modified, long size) {

    /** What lies at a path now; nothing if there is none, or it may not be seen. */
    public static Optional<FileVersion> of(Path path) {
        try {
            var now = Files.readAttributes(path, BasicFileAttributes.class);
            return Optional.of(
                    new FileVersion(
                            String.valueOf(now.fileKey()), now.lastModifiedTime(), now.size()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether it was written longer ago. */
    public boolean isOlderThan(Duration age) {
        return modified.toInstant().isBefore(Instant.now().minus(age));
    }
}

package io.gpusharing.deviceplugin.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Writes files that are there as a whole, or not at all. */
public final class AtomicFile {

    private AtomicFile() {}

    /**
     * Puts a file in the place of what was there. A machine that crashes may leave it empty.
     *
     * @param permissions as {@code ls} writes them
     */
    public static void write(Path path, String text, String permissions) throws IOException {
        write(path, text, permissions, false);
    }

    /** The same; afterwards it is on disk as a whole, or what was there before still is. */
    public static void writeDurably(Path path, String text, String permissions) throws IOException {
        write(path, text, permissions, true);
    }

    private static void write(Path path, String text, String permissions, boolean durably)
            throws IOException {
        // Readers of folders such as CDI's know by the ending that it is not finished.
        Path draft = path.resolveSibling(path.getFileName() + ".tmp");
        Files.deleteIfExists(draft);
        try (FileChannel channel =
                FileChannel.open(
                        draft,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString(permissions)))) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            if (durably) {
                channel.force(true);
            }
        }
        Files.move(
                draft, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}

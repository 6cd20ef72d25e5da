package io.gpusharing.deviceplugin.kubelet;

import io.gpusharing.deviceplugin.disk.FileVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet's table of devices, read anew when it is another one than before: with eight GPUs it
 * has more than five thousand units, and many ask for it at the same moment. Safe for any thread.
 */
public final class CheckpointFile {

    /** Linux' clock of files ticks every 1 to 10 ms; two tables of one tick may look alike. */
    private static final Duration CLOCK_OF_FILES = Duration.ofMillis(20);

    private final Path path;
    private Optional<FileVersion> version = Optional.empty();
    private @Nullable Checkpoint last;

    /**
     * @param path {@code kubelet_internal_checkpoint} in the kubelet's folder of device plugins
     */
    public CheckpointFile(Path path) {
        this.path = path;
    }

    /**
     * What it says now. See {@link Checkpoint#read}.
     *
     * @throws IOException if it cannot be read, or is not what we know
     */
    public synchronized Checkpoint read() throws IOException {
        Optional<FileVersion> now =
                FileVersion.of(path).filter(it -> it.isOlderThan(CLOCK_OF_FILES));
        Checkpoint known = last;
        if (known == null || now.isEmpty() || !now.equals(version)) {
            known = Checkpoint.read(path);
            last = known;
            // That of before: what was written meanwhile is read the next time.
            version = now;
        }
        return known;
    }
}

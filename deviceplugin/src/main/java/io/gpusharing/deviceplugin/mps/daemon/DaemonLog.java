package io.gpusharing.deviceplugin.mps.daemon;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the end of what a daemon says. It says some lines of every client for as long as it runs,
 * and the folder is in memory.
 *
 * @param file the newer half; the older one has the ending {@code .1}
 * @param most bytes of each half
 */
record DaemonLog(Path file, long most) {

    private static final Logger log = LoggerFactory.getLogger(DaemonLog.class);

    private static final int PIECE = 8 * 1024;

    /** Takes what comes, on a thread of its own, until the daemon has ended. */
    void follow(InputStream said) {
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        copy(said);
                    } catch (IOException e) {
                        log.atWarn()
                                .addKeyValue("file", file)
                                .addKeyValue("reason", e.getMessage())
                                .log("the log of an MPS daemon ends here");
                        drop(said);
                    }
                });
    }

    void copy(InputStream said) throws IOException {
        byte[] piece = new byte[PIECE];
        int count = said.read(piece);
        while (count >= 0) {
            try (OutputStream out = Files.newOutputStream(file)) {
                long written = 0;
                while (count >= 0 && written < most) {
                    out.write(piece, 0, count);
                    written += count;
                    count = said.read(piece);
                }
            }
            if (count >= 0) {
                Files.move(file, older(), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    Path older() {
        return file.resolveSibling(file.getFileName() + ".1");
    }

    /** A daemon that nobody listens to would stop when its pipe is full. */
    private static void drop(InputStream said) {
        try {
            said.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // It has ended.
        }
    }
}

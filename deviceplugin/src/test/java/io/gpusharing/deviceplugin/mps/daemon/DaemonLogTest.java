package io.gpusharing.deviceplugin.mps.daemon;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonLogTest {

    @TempDir private Path folder;

    /** A line at a time, as a program writes. */
    private static InputStream lines(int count) {
        var text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append("line %06d%n".formatted(i));
        }
        return new ByteArrayInputStream(text.toString().getBytes(US_ASCII)) {
            @Override
            public synchronized int read(byte[] bytes, int offset, int length) {
                return super.read(bytes, offset, Math.min(length, 12));
            }
        };
    }

    @Test
    void aShortLogIsAllThere() throws IOException {
        var log = new DaemonLog(folder.resolve("daemon.log"), 1_000);

        log.copy(lines(3));

        assertThat(log.file()).hasContent("line 000000\nline 000001\nline 000002");
        assertThat(log.older()).doesNotExist();
    }

    @Test
    void ofALongLogTheEndIsKeptAndNoMoreThanThat() throws IOException {
        var log = new DaemonLog(folder.resolve("daemon.log"), 1_000);

        log.copy(lines(100_000));

        assertThat(Files.readString(log.older()) + Files.readString(log.file()))
                .hasSizeBetween(1_000, 2_100)
                .endsWith("line 099998\nline 099999\n");
    }
}

package io.gpusharing.nvml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * All memory of the computer, which is that of a GPU without memory of its own.
 *
 * @param meminfo the kernel's file, which says the same in every container
 */
public record SystemMemory(Path meminfo) {

    /** That of this computer. */
    public static final SystemMemory OF_THIS_COMPUTER = new SystemMemory(Path.of("/proc/meminfo"));

    private static final Pattern TOTAL = Pattern.compile("(?m)^MemTotal:\\s+([0-9]{1,15}) kB$");

    /** How much it is, in MiB; 0 where the kernel does not say. */
    public long mebibytes() {
        try {
            Matcher total = TOTAL.matcher(Files.readString(meminfo));
            return total.find() ? Long.parseLong(total.group(1)) >>> 10 : 0;
        } catch (IOException e) {
            return 0;
        }
    }
}

package io.gpusharing.nvml;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/** A driver's version, compared part by part as numbers: {@code 535.113.01} is above 535.54.03. */
public record DriverVersion(int major, int minor, int patch) implements Comparable<DriverVersion> {

    private static final Pattern SHAPE = Pattern.compile("\\d{1,5}\\.\\d{1,5}(\\.\\d{1,5})?");

    /**
     * Reads what {@code nvmlSystemGetDriverVersion} answers.
     *
     * @return empty where the text is no version: then only a self-test can show what works
     */
    public static Optional<DriverVersion> parse(String text) {
        if (!SHAPE.matcher(text).matches()) {
            return Optional.empty();
        }
        int[] parts = Arrays.stream(text.split("\\.", -1)).mapToInt(Integer::parseInt).toArray();
        return Optional.of(new DriverVersion(parts[0], parts[1], parts.length > 2 ? parts[2] : 0));
    }

    /** Whether this driver is the given one or a later one. Asked every tick: no object is made. */
    public boolean atLeast(int major, int minor, int patch) {
        if (this.major != major) {
            return this.major > major;
        }
        return this.minor == minor ? this.patch >= patch : this.minor > minor;
    }

    @Override
    public int compareTo(DriverVersion other) {
        return equals(other) ? 0 : atLeast(other.major, other.minor, other.patch) ? 1 : -1;
    }
}

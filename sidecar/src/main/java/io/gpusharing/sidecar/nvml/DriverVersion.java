package io.gpusharing.sidecar.nvml;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/** A driver's version, compared part by part as numbers: {@code 535.113.01} is above 535.54.03. */
public record DriverVersion(int major, int minor, int patch) implements Comparable<DriverVersion> {

    private static final Pattern SHAPE = Pattern.compile("\\d{1,5}\\.\\d{1,5}(\\.\\d{1,5})?");

    /**
     * Reads what {@code nvmlSystemGetDriverVersion} answers.
     *
     * @return empty where the text is no version: then only a self-test can tell what works
     */
    public static Optional<DriverVersion> parse(String text) {
        if (!SHAPE.matcher(text).matches()) {
            return Optional.empty();
        }
        int[] parts = Arrays.stream(text.split("\\.", -1)).mapToInt(Integer::parseInt).toArray();
        return Optional.of(new DriverVersion(parts[0], parts[1], parts.length > 2 ? parts[2] : 0));
    }

    /** Whether this driver is the given one or a later one. */
    public boolean atLeast(int major, int minor, int patch) {
        return compareTo(new DriverVersion(major, minor, patch)) >= 0;
    }

    @Override
    public int compareTo(DriverVersion other) {
        return Arrays.compare(
                new int[] {major, minor, patch}, new int[] {other.major, other.minor, other.patch});
    }
}

package io.gpusharing.cli.console;

import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.TypeConversionException;

/** How an answer is written. */
public enum Format {
    TABLE,
    /** A table with more columns. */
    WIDE,
    JSON,
    YAML,
    /** The columns of {@code WIDE}, as RFC 4180. */
    CSV;

    /** Reads it as users write it. */
    public static Format of(String text) {
        return Arrays.stream(values())
                .filter(it -> it.toString().equals(text))
                .findFirst()
                .orElseThrow(() ->
                        new TypeConversionException(
                                "%s is no format; use one of %s"
                                        .formatted(text, Arrays.toString(values()))));
    }

    /** Whether it is read by people, who are told more than programs are. */
    public boolean isForPeople() {
        return this == TABLE || this == WIDE;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

package io.gpusharing.webhook.decision;

import java.util.List;

/**
 * Warnings as the API server passes them on: at most 120 characters each, without control
 * characters, or the whole header is dropped; and not more than people read.
 */
final class WarningText {

    private static final int MAX_CHARACTERS = 120;
    private static final int MAX_WARNINGS = 10;

    private WarningText() {}

    /** At most ten different ones, each in one line of 120 characters. */
    static List<String> fitted(List<String> warnings) {
        if (warnings.isEmpty()) {
            return warnings;
        }
        return warnings.stream().distinct().limit(MAX_WARNINGS).map(WarningText::fitted).toList();
    }

    private static String fitted(String warning) {
        String line = warning.replaceAll("\\p{Cntrl}", " ");
        if (line.codePointCount(0, line.length()) <= MAX_CHARACTERS) {
            return line;
        }
        return line.substring(0, line.offsetByCodePoints(0, MAX_CHARACTERS - 1)) + "…";
    }
}

package io.gpusharing.cli.inspect;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Lays text out as Go's {@code text/tabwriter} does with a padding of two spaces: a tab ends a
 * cell, and cells of one column that follow each other line by line are as wide as the widest of
 * them. What follows the last tab of a line belongs to no column.
 */
final class ElasticTabs {

    private static final int PADDING = 2;

    private ElasticTabs() {}

    static String laidOut(String text) {
        List<String[]> lines =
                Arrays.stream(text.split("\n", -1)).map(line -> line.split("\t", -1)).toList();
        var widths = new ArrayList<int[]>();
        lines.forEach(cells -> widths.add(new int[cells.length - 1]));
        for (int line = 0; line < lines.size(); line++) {
            for (int column = 0; column < widths.get(line).length; column++) {
                if (widths.get(line)[column] == 0) {
                    widen(lines, widths, line, column);
                }
            }
        }
        var out = new StringBuilder();
        for (int line = 0; line < lines.size(); line++) {
            String[] cells = lines.get(line);
            for (int column = 0; column < cells.length - 1; column++) {
                out.append(cells[column])
                        .repeat(' ', widths.get(line)[column] - cells[column].length());
            }
            out.append(cells[cells.length - 1]).append(line < lines.size() - 1 ? "\n" : "");
        }
        return out.toString();
    }

    private static void widen(List<String[]> lines, List<int[]> widths, int first, int column) {
        int end = first;
        int width = 0;
        while (end < lines.size() && widths.get(end).length > column) {
            width = Math.max(width, lines.get(end)[column].length());
            end++;
        }
        for (int line = first; line < end; line++) {
            widths.get(line)[column] = width + PADDING;
        }
    }
}

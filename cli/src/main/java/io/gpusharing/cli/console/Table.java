package io.gpusharing.cli.console;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rows under headings. A cell without a value is empty; people see {@code -} there.
 *
 * @param alarming texts of cells that are coloured where there are colours
 * @param footer what people see below the rows, as it is; empty if there is none
 */
public record Table(
        List<String> headings, List<List<String>> rows, Set<String> alarming, List<String> footer) {

    private static final String GAP = "   ";
    private static final String RED = "\033[31m";
    private static final String PLAIN = "\033[0m";

    /** One without a footer. */
    public Table(List<String> headings, List<List<String>> rows, Set<String> alarming) {
        this(headings, rows, alarming, List.of());
    }

    /**
     * Nothing for nothing: why there is nothing is said besides.
     *
     * @param headed whether the headings are shown
     */
    void print(PrintWriter out, boolean colours, boolean headed) {
        if (rows.isEmpty()) {
            return;
        }
        List<List<String>> lines = new ArrayList<>();
        all(headed).forEach(row -> lines.add(row.stream().map(Table::shown).toList()));
        if (headed && !footer.isEmpty()) {
            lines.add(footer);
        }
        int[] widths = new int[headings.size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        lines.forEach(line -> out.println(laidOut(line, widths, colours)));
    }

    private String laidOut(List<String> cells, int[] widths, boolean colours) {
        var line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = cells.get(i);
            line.append(colours && alarming.contains(cell) ? RED + cell + PLAIN : cell);
            if (i < widths.length - 1) {
                line.repeat(' ', widths[i] - cell.length()).append(GAP);
            }
        }
        return line.toString().stripTrailing();
    }

    void printCsv(PrintWriter out, boolean headed) {
        for (List<String> row : all(headed)) {
            out.print(
                    row.stream()
                                    .map(Console::visible)
                                    .map(Table::quoted)
                                    .collect(Collectors.joining(","))
                            + "\r\n");
        }
    }

    private List<List<String>> all(boolean headed) {
        var all = new ArrayList<List<String>>();
        if (headed) {
            all.add(headings);
        }
        all.addAll(rows);
        return all;
    }

    private static String shown(String cell) {
        return cell.isEmpty() ? "-" : Console.visible(cell).replace('\n', ' ');
    }

    private static String quoted(String cell) {
        return cell.chars().anyMatch(it -> ",\"\r\n".indexOf(it) >= 0)
                ? '"' + cell.replace("\"", "\"\"") + '"'
                : cell;
    }
}

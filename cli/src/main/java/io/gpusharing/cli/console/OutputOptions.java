package io.gpusharing.cli.console;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import picocli.CommandLine.Option;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The options of every command that answers, and what they mean. */
public final class OutputOptions {

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "One of ${COMPLETION-CANDIDATES}.")
    private Format format = Format.TABLE;

    @Option(
            names = "--no-headers",
            description = "Tables and CSV without their first line, and tables without their last.")
    private boolean noHeaders;

    public Format format() {
        return format;
    }

    /**
     * Prints an answer.
     *
     * @param table for people, and as CSV
     * @param document a record or list for programs, as JSON or YAML
     */
    public void print(Console console, Table table, Object document) {
        switch (format) {
            case TABLE, WIDE -> table.print(console.out(), console.colours(), !noHeaders);
            case CSV -> table.printCsv(console.out(), !noHeaders);
            case JSON ->
                    console.out().println(Console.escaped(json().writeValueAsString(document)));
            case YAML ->
                    console.out()
                            .print(
                                    Console.visible(
                                            new KubernetesSerialization(json(), false)
                                                    .asYaml(document)));
        }
    }

    /**
     * Prints CSV that somebody else has written.
     *
     * @param lines each with its end, as RFC 4180 has it
     */
    public void printCsv(Console console, String lines) {
        String shown = noHeaders ? lines.substring(lines.indexOf('\n') + 1) : lines;
        console.out().print(Console.visible(shown.replace("\r\n", "\n")).replace("\n", "\r\n"));
    }

    private static JsonMapper json() {
        return JsonMapper.builder()
                .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                .enable(SerializationFeature.INDENT_OUTPUT)
                .build();
    }
}

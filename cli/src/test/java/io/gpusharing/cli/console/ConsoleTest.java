package io.gpusharing.cli.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What a tenant has called something does nothing to the terminal of who reads it. */
class ConsoleTest {

    private final StringWriter terminal = new StringWriter();
    private final PrintWriter lines = new PrintWriter(terminal, true);
    private final Console console = new Console(lines, lines, true);

    @Test
    void aNameNeitherClearsTheScreenNorWritesOverItsLine() {
        console.say("job/\033[2J\nof\033]0;title\007");
        console.note("10 minutes\r0 minutes\u009b1A");
        assertThat(terminal)
                .hasToString(
                        "job/\uFFFD[2J\nof\uFFFD]0;title\uFFFD\n10 minutes\uFFFD0 minutes\uFFFD1A\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSON", "YAML"})
    void neitherDoesADocumentForPrograms(String format) {
        var output = CommandLine.populateCommand(new OutputOptions(), "--output", format);

        output.print(
                console,
                new Table(List.of(), List.of(), Set.of()),
                Map.of("owner", "job/\033[2J\u009b1A\u007f\u202e"));

        assertThat(terminal.toString())
                .contains("job/")
                .doesNotContain("\033", "\u009b", "\u007f", "\u202e");
    }

    @Test
    void aCellIsOneLine() {
        new Table(List.of("OWNER"), List.of(List.of("a\n\033[31mteam-b")), Set.of())
                .print(lines, true, true);
        assertThat(terminal).hasToString("OWNER\na \uFFFD[31mteam-b\n");
    }
}

package io.gpusharing.webhook.explain;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainTest {

    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @TempDir Path folder;

    @Test
    void aFileThatIsNotThereIsToldInOneLine() {
        assertThat(explain("/nope")).isEqualTo(2);
        assertThat(said.toString(UTF_8).strip())
                .isEqualTo("cannot read /nope: there is no such file");
    }

    @Test
    void aFileThatIsNotYamlIsToldInOneLineWithItsPlace() throws IOException {
        Path file = Files.writeString(folder.resolve("broken.yaml"), "kind: Pod\nspec: {a: [b}\n");

        assertThat(explain(file.toString())).isEqualTo(2);
        assertThat(said.toString(UTF_8)).contains("is not YAML: line 2: ").hasLineCount(1);
    }

    private int explain(String file) {
        String[] arguments = {"explain", "-f", file};
        return Explain.run(arguments, new PrintStream(said, true, UTF_8));
    }
}

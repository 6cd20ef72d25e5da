package io.gpusharing.webhook.explain;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class ExplainTest {

    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @TempDir Path folder;

    /** It is a command of its own, and makes the whole process quiet. */
    @AfterEach
    void letOtherTestsLog() {
        LoggingSystem.get(getClass().getClassLoader())
                .setLogLevel(LoggingSystem.ROOT_LOGGER_NAME, LogLevel.INFO);
    }

    @Test
    void aMissingFileIsReportedInOneLine() {
        assertThat(explain("/nope")).isEqualTo(2);
        assertThat(said.toString(UTF_8).strip())
                .isEqualTo("cannot read /nope: there is no such file");
    }

    @Test
    void aFileThatIsNotYamlIsReportedInOneLineWithItsPlace() throws IOException {
        Path file = Files.writeString(folder.resolve("broken.yaml"), "kind: Pod\nspec: {a: [b}\n");

        assertThat(explain(file.toString())).isEqualTo(2);
        assertThat(said.toString(UTF_8)).contains("is not YAML: line 2: ").hasLineCount(1);
    }

    @Test
    void anUnknownOptionIsNotARefusedManifest() throws IOException {
        Path file = Files.writeString(folder.resolve("pod.yaml"), "kind: Pod\n");

        assertThat(explain(file.toString(), "--grammars=vcuda")).isEqualTo(2);
        assertThat(said.toString(UTF_8).strip())
                .isEqualTo(
                        "--grammars=vcuda is no option: options are --gpusharing.property=value");
    }

    @Test
    void anOptionThatMakesNoSenseIsNotARefusedManifest() throws IOException {
        Path file = Files.writeString(folder.resolve("pod.yaml"), "kind: Pod\n");

        assertThat(explain(file.toString(), "--gpusharing.policy.node-name=Never")).isEqualTo(2);
    }

    @Test
    void aManifestThatCannotBeReadIsRefusedAndTheNextIsExplained(CapturedOutput output)
            throws IOException {
        Path file =
                Files.writeString(
                        folder.resolve("pods.yaml"),
                        """
                        kind: Pod
                        metadata: {name: odd}
                        spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: many}}}]}
                        ---
                        kind: Pod
                        metadata: {name: huge}
                        spec:
                          containers:
                            - name: a
                              resources: {limits: {tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 15, cpu: "9e999"}}
                        """);

        assertThat(explain(file.toString())).isEqualTo(1);
        assertThat(output.getOut())
                .contains("Pod odd\n  verdict   refused (422): GPUSharing cannot read this object")
                .contains("Pod huge\n  verdict   accepted");
    }

    private int explain(String file, String... options) {
        String[] arguments =
                Stream.concat(Stream.of("explain", "-f", file), Stream.of(options))
                        .toArray(String[]::new);
        return Explain.run(arguments, new PrintStream(said, true, UTF_8));
    }
}

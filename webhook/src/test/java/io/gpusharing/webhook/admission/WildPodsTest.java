package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

/** Pods in the shapes that popular software gives them. */
class WildPodsTest {

    private final Installation installation = new Installation();

    @ParameterizedTest(name = "{0}")
    @MethodSource("pods")
    void aPodFromTheWildDiffersOnlyInOurKeys(Path file) {
        ObjectNode pod = Manifests.asReceived(read(file));

        Answered answer = installation.received(pod);

        assertThat(answer.allowed()).as(answer.message()).isTrue();
        assertThat(answer.initContainers()).first().isEqualTo("gpusharing-sidecar");
        assertThat(Ours.without((ObjectNode) answer.patched())).isEqualTo(Ours.without(pod));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pods")
    void completingItAgainChangesNothing(Path file) {
        Answered once = installation.received(Manifests.asReceived(read(file)));

        Answered twice = installation.received(once.patched());

        assertThat(twice.allowed()).as(twice.message()).isTrue();
        assertThat(twice.operations()).isEmpty();
    }

    static Stream<Path> pods() throws IOException, URISyntaxException {
        var folder =
                Path.of(Objects.requireNonNull(WildPodsTest.class.getResource("/wild")).toURI());
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList().stream();
        }
    }

    private static ObjectNode read(Path file) {
        try {
            return Manifests.yaml(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

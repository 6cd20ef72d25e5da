package io.gpusharing.webhook.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.admission.Answered;
import io.gpusharing.webhook.admission.Installation;
import io.gpusharing.webhook.admission.Manifests;
import io.gpusharing.webhook.decision.Reaction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

/**
 * Ways to a GPU past its device plugin, as the webhook sees them in pods that ask for GPUs. The
 * same manifests, without a GPU request, are what {@code helm/test-on-cluster} gives to the
 * admission policies.
 */
class BypassPolicyTest {

    private static final String EXPECTED = "# with a GPU: ";

    private final Installation installation =
            new Installation()
                    .policy(
                            new PolicyProperties(
                                    Reaction.Refuse,
                                    Reaction.Refuse,
                                    Reaction.Refuse,
                                    Reaction.Refuse,
                                    Reaction.Refuse,
                                    Reaction.Refuse,
                                    Reaction.Refuse,
                                    Reaction.Refuse));

    @ParameterizedTest(name = "{0}")
    @MethodSource("pods")
    void aPodWithAGpuMayNotReachOthersPastTheDevicePlugin(Path file) {
        ObjectNode pod = Manifests.yaml(read(file));
        ((ObjectNode) pod.at("/spec/containers/0"))
                .withObject("/resources/limits")
                .put("tencent.com/vcuda-core", 100);

        Answered answer = installation.create(pod);

        assertThat(answer.audit("rules")).as(answer.message()).isEqualTo(expected(file));
        assertThat(answer.allowed()).isEqualTo(expected(file).isEmpty());
    }

    static List<Path> pods() throws IOException, URISyntaxException {
        var folder =
                Path.of(
                        Objects.requireNonNull(BypassPolicyTest.class.getResource("/bypass"))
                                .toURI());
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    private static String expected(Path file) {
        String said =
                read(file)
                        .lines()
                        .filter(line -> line.startsWith(EXPECTED))
                        .findFirst()
                        .orElseThrow()
                        .substring(EXPECTED.length());
        return said.equals("-") ? "" : said;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

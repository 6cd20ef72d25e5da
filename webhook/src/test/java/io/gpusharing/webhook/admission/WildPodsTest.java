package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.WildPod;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Pods in the shapes that popular software gives them. */
class WildPodsTest {

    private final Installation installation = new Installation();

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.gpusharing.testing.WildPod#all")
    void aPodFromTheWildDiffersOnlyInOurKeys(WildPod shape) {
        ObjectNode pod = received(shape);

        Answered answer = installation.received(pod);

        assertThat(answer.allowed()).as(answer.message()).isTrue();
        assertThat(answer.initContainers()).first().isEqualTo("gpusharing-sidecar");
        assertThat(Ours.without((ObjectNode) answer.patched())).isEqualTo(Ours.without(pod));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.gpusharing.testing.WildPod#all")
    void completingItAgainChangesNothing(WildPod shape) {
        Answered once = installation.received(received(shape));

        Answered twice = installation.received(once.patched());

        assertThat(twice.allowed()).as(twice.message()).isTrue();
        assertThat(twice.operations()).isEmpty();
    }

    private static ObjectNode received(WildPod shape) {
        return Manifests.asReceived(JsonMapper.shared().valueToTree(shape.manifest()));
    }
}

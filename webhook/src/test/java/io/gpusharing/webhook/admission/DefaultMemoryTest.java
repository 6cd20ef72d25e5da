package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A site may give memory to fractions that name none. */
class DefaultMemoryTest {

    private static final String MEMORY = "tencent.com/vcuda-memory";

    private final Installation installation = new Installation().defaultMemory(60);

    @Test
    void withoutADefaultAFractionWithoutMemoryIsRefused() {
        assertThat(new Installation().create(asking("tencent.com/vcuda-core: 50")).code())
                .isEqualTo(422);
    }

    @ParameterizedTest
    @CsvSource({"50, 30", "1, 1", "25, 15", "99, 60"})
    void aFractionGetsItsPartOfTheDefaultRoundedUp(int core, int blocks) {
        Answered answer = installation.create(asking("tencent.com/vcuda-core: " + core));

        JsonNode resources = answer.patched().at("/spec/containers/0/resources");
        assertThat(resources.path("limits").path(MEMORY).asString()).isEqualTo("" + blocks);
        assertThat(resources.path("requests").path(MEMORY).asString()).isEqualTo("" + blocks);
        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo(
                        "cuda/tencent.com/vcuda-core=%d,cuda/tencent.com/vcuda-memory=%d"
                                .formatted(core, blocks));
        assertThat(answer.warnings())
                .contains(
                        "container \"cuda\": tencent.com/vcuda-memory is %d by default"
                                .formatted(blocks));
    }

    @ParameterizedTest
    @CsvSource({
        "'tencent.com/vcuda-core: 100'",
        "'tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 4'"
    })
    void aLegalPodIsNotChanged(String amounts) {
        Answered answer = installation.create(asking(amounts));

        assertThat(answer.operations()).noneMatch(operation -> operation.contains("resources"));
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void anExplicitAmountOfZeroIsRefused() {
        assertThat(
                        installation
                                .create(
                                        asking(
                                                "tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 0"))
                                .code())
                .isEqualTo(422);
    }

    @Test
    void anInitContainerGetsItToo() {
        ObjectNode pod =
                yaml(
                        """
                        metadata: {name: prepares}
                        spec:
                          initContainers:
                          - {name: first, image: x}
                          - {name: prepare, image: x, resources: {limits: {tencent.com/vcuda-core: 10}}}
                          containers:
                          - {name: main, image: x}
                        """);

        JsonNode init = installation.create(pod).patched().at("/spec/initContainers");

        assertThat(init.path(2).path("name").asString()).isEqualTo("prepare");
        assertThat(init.path(2).at("/resources/limits").path(MEMORY).asString()).isEqualTo("6");
    }

    @Test
    void completingItAgainChangesNothing() {
        Answered once = installation.create(asking("tencent.com/vcuda-core: 50"));

        assertThat(installation.received(once.patched()).operations()).isEmpty();
    }

    @Test
    void aTemplateIsJudgedLikeItsPods() {
        ObjectNode job =
                yaml(
                        """
                        kind: Job
                        metadata: {name: j}
                        spec: {template: {spec: {containers: [{name: cuda, resources: {limits: {tencent.com/vcuda-core: 50}}}]}}}
                        """);

        assertThat(installation.workload("batch", job, null).warnings())
                .containsExactly("container \"cuda\": tencent.com/vcuda-memory is 30 by default");
    }

    private static ObjectNode asking(String amounts) {
        return yaml(
                """
                metadata: {name: asking}
                spec:
                  containers:
                  - {name: cuda, image: x, resources: {limits: {%s}}}
                """
                        .formatted(amounts));
    }
}

package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.template.PodTemplates;
import io.gpusharing.webhook.template.PodTemplates.Pods;
import io.gpusharing.webhook.template.TemplatePath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Objects of operators get an early answer too, where the site names the paths of their pod
 * templates.
 */
class OperatorTemplatesTest {

    private static final String ARGO = "argoproj.io";

    private final Installation installation =
            new Installation()
                    .kinds(
                            file("helm/gpusharing/presets/operators.yaml")
                                    .at("/webhook/workloads/kinds")
                                    .valueStream()
                                    .map(OperatorTemplatesTest::kind)
                                    .toArray(PodTemplates.Kind[]::new));

    @Test
    void aWorkflowAsPeopleWriteItIsFine() {
        Answered answer = installation.workload(ARGO, workflow(), null);

        assertThat(answer.allowed()).as(answer.message()).isTrue();
        assertThat(answer.audit("verdict")).isEqualTo("Allowed");
    }

    @ParameterizedTest
    @CsvSource({
        "/spec/templates/1/script, fetch",
        "/spec/templates/2/container, train",
        "/spec/templates/2/initContainers/0, warm",
        "/spec/templates/2/sidecars/0, board",
        "/spec/templates/3/containerSet/containers/0, main"
    })
    void everyPlaceOfAContainerIsJudged(String place, String name) {
        ObjectNode workflow = workflow();
        ask(workflow, place, 150);

        Answered answer = installation.workload(ARGO, workflow, null);

        assertThat(answer.code()).isEqualTo(422);
        assertThat(answer.message())
                .startsWith("container \"%s\"".formatted(name))
                .contains("vcuda-core] is 150");
    }

    @Test
    void everyViolatingTemplateIsNamedAtOnce() {
        ObjectNode workflow = workflow();
        ask(workflow, "/spec/templates/1/script", 150);
        ask(workflow, "/spec/templates/3/containerSet/containers/0", 250);

        assertThat(installation.workload(ARGO, workflow, null).message()).startsWith("2 problems:");
    }

    @Test
    void anUpdateIsJudgedOnlyWhereATemplateChanged() {
        ObjectNode before = workflow();
        ask(before, "/spec/templates/1/script", 150);
        ObjectNode suspended = before.deepCopy();
        suspended.withObject("/spec").put("suspend", true);
        ObjectNode broken = before.deepCopy();
        ask(broken, "/spec/templates/3/containerSet/containers/0", 250);

        assertThat(installation.workload(ARGO, suspended, before).allowed()).isTrue();
        assertThat(installation.workload(ARGO, broken, before).message())
                .contains("is 250")
                .doesNotContain("is 150");
    }

    @Test
    void templatesOfGroupsOfPodsAreJudgedOneByOne() {
        ObjectNode ray =
                Manifests.yaml(
                        """
                        kind: RayCluster
                        metadata: {name: ray}
                        spec:
                          headGroupSpec: {template: {spec: {containers: [{name: head, image: x}]}}}
                          workerGroupSpecs:
                          - {groupName: small, template: {spec: {containers: [{name: worker, image: x, resources: {limits: {tencent.com/vcuda-core: 30}}}]}}}
                        """);

        assertThat(installation.workload("ray.io", ray, null).message())
                .startsWith("container \"worker\": resources.limits[tencent.com/vcuda-memory]");
    }

    /** Those of examples/, which an API server takes in WorkloadsIT. */
    @ParameterizedTest
    @CsvSource({
        "kubeflow-notebook, /spec/template/spec/containers/0",
        "kserve, /spec/predictor/model",
        "kuberay, /spec/headGroupSpec/template/spec/containers/0",
        "kuberay, /spec/workerGroupSpecs/0/template/spec/containers/0"
    })
    void anObjectOfAnOperatorIsRefusedToWhoCreatesIt(String example, String place) {
        ObjectNode object = file("examples/%s.yaml".formatted(example));
        String group = object.path("apiVersion").asString().split("/", 2)[0];
        Answered legal = installation.workload(group, object, null);
        ask(object, place, 150);

        Answered illegal = installation.workload(group, object, null);

        assertThat(legal.allowed()).as(legal.message()).isTrue();
        assertThat(legal.audit("verdict")).isEqualTo("Allowed");
        assertThat(illegal.code()).isEqualTo(422);
        assertThat(illegal.message()).contains("vcuda-core] is 150");
    }

    @Test
    void aKindThatIsNotConfiguredIsNotReviewed() {
        ObjectNode workflow = workflow();
        ask(workflow, "/spec/templates/1/script", 150);

        assertThat(new Installation().workload(ARGO, workflow, null).allowed()).isTrue();
    }

    private static void ask(ObjectNode workflow, String place, int core) {
        ((ObjectNode) workflow.at(place))
                .withObject("/resources/limits")
                .put("tencent.com/vcuda-core", core);
    }

    private static PodTemplates.Kind kind(JsonNode kind) {
        return new PodTemplates.Kind(
                kind.path("apiGroup").asString(),
                kind.path("kind").asString(),
                kind.path("pods").valueStream().map(OperatorTemplatesTest::pods).toList());
    }

    private static Pods pods(JsonNode pods) {
        String path = pods.path("path").asString();
        return pods.has("containers")
                ? new Pods(
                        TemplatePath.parse(path),
                        paths(pods.path("containers")),
                        paths(pods.path("initContainers")))
                : Pods.template(path);
    }

    private static List<TemplatePath> paths(JsonNode texts) {
        return texts.valueStream().map(text -> TemplatePath.parse(text.asString())).toList();
    }

    private static ObjectNode file(String path) {
        try {
            return Manifests.yaml(Files.readString(Path.of("..", path)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ObjectNode workflow() {
        try (var file =
                Objects.requireNonNull(
                        OperatorTemplatesTest.class.getResourceAsStream(
                                "/operators/argo-workflow.yaml"))) {
            return Manifests.yaml(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

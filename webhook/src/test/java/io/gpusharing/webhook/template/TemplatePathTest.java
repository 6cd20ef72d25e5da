package io.gpusharing.webhook.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TemplatePathTest {

    private static final JsonNode OBJECT =
            JsonMapper.shared()
                    .readTree(
                            """
                            {"spec": {"one": {"n": 1}, "list": [{"n": 2}, {"n": 3}, 4],
                                      "groups": {"a": {"pods": [{"n": 5}]}, "b": {"pods": [{"n": 6}]}}}}
                            """);

    @ParameterizedTest
    @CsvSource({
        "spec.one, 1",
        "spec.list[*], 2 3",
        "spec.groups[*].pods[*], 5 6",
        "spec.missing.template, ''",
        "spec.one[*], ''",
        "spec.list, ''"
    })
    void leadsToObjectsAloneInTheirOrder(String path, String found) {
        assertThat(TemplatePath.parse(path).in(OBJECT).map(node -> node.path("n").asString("")))
                .containsExactly(found.isEmpty() ? new String[0] : found.split(" ", -1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "spec..x", "spec[0]", "/spec/template", "spec.[*]", "a b"})
    void anythingElseIsRefusedWithAnExample(String path) {
        assertThatThrownBy(() -> TemplatePath.parse(path))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write it as spec.templates[*].container");
    }
}

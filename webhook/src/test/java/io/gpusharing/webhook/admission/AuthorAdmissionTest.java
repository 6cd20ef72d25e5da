package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class AuthorAdmissionTest {

    private final Installation installation = new Installation();

    @Test
    void aGrantNamesItsAuthorAsTheApiServerAuthenticatedThem() {
        Answered answer = ask("CREATE", grant("{name: paper, generateName: x}"));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.annotation("gpusharing.io/author")).isEqualTo("jane");
        assertThat(answer.audit("author")).isEqualTo("jane");
    }

    @Test
    void aCorrectionNamesItsAuthorAndIsCreatedWithoutAWarning() {
        Answered answer =
                installation.ask(
                        WebhookType.Mutate,
                        Installation.review(
                                "CREATE",
                                "gpusharing.io",
                                "GpuCorrection",
                                yaml(
                                        "{kind: GpuCorrection, metadata: {name: node-7, annotations: {gpusharing.io/author: dean}}, spec: {budget: b}}"),
                                null));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.annotation("gpusharing.io/author")).isEqualTo("jane");
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void anAuthorWrittenByHandIsOverwritten() {
        Answered answer =
                ask(
                        "CREATE",
                        grant("{name: paper, annotations: {gpusharing.io/author: dean, team: a}}"));

        assertThat(answer.annotation("gpusharing.io/author")).isEqualTo("jane");
        assertThat(answer.annotation("team")).isEqualTo("a");
        assertThat(answer.operations()).hasSize(1);
    }

    @Test
    void aGrantThatCanCountIsCreatedWithoutAWarning() {
        installation.budget("10", OnExhausted.Refuse);

        assertThat(ask("CREATE", grant("{name: paper}")).warnings()).isEmpty();
    }

    @Test
    void aGrantThatCannotCountIsCreatedWithAWarning() {
        ObjectNode grant = grant("{name: paper}");
        grant.withObject("/spec").put("budget", "b").put("expiresAt", "2026-01-01T00:00:00Z");

        Answered answer = ask("CREATE", grant);

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings())
                .containsExactly(
                        "there is no GpuBudget b: the grant adds nothing as long as there is none",
                        "spec.expiresAt is 2026-01-01T00:00:00Z, which has passed: the grant adds nothing");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UPDATE", "DELETE"})
    void theAuthorIsTheCreatorAndNotALaterEditor(String operation) {
        assertThat(ask(operation, grant("{name: paper}")).operations()).isEmpty();
    }

    @Test
    void aKindOfTheSameNameElsewhereIsNotOurs() {
        assertThat(
                        installation
                                .ask(
                                        WebhookType.Mutate,
                                        Installation.review(
                                                "CREATE",
                                                "example.com",
                                                "GpuGrant",
                                                grant("{name: paper}"),
                                                null))
                                .operations())
                .isEmpty();
    }

    private Answered ask(String operation, ObjectNode grant) {
        return installation.ask(
                WebhookType.Mutate,
                Installation.review(operation, "gpusharing.io", "GpuGrant", grant, null));
    }

    private static ObjectNode grant(String metadata) {
        return yaml(
                "{kind: GpuGrant, metadata: %s, spec: {budget: a, gpuMinutes: '30', reason: paper}}"
                        .formatted(metadata));
    }
}

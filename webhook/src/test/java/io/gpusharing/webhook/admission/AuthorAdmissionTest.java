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
    void aGrantThatDoesNotCountYetIsCreatedWithAWarning() {
        Answered toNone = ask("CREATE", grant("{name: paper}"));
        installation.budget(null, OnExhausted.Observe);
        Answered toNoLimit = ask("CREATE", grant("{name: paper}"));

        assertThat(toNone.annotation("gpusharing.io/author")).isEqualTo("jane");
        assertThat(toNone.warnings())
                .containsExactly(
                        "there is no GpuBudget a: the grant adds nothing as long as there is none");
        assertThat(toNoLimit.warnings())
                .containsExactly(
                        "the GpuBudget a has no limit: the grant adds nothing as long as it has none");
    }

    @Test
    void aGrantThatHasExpiredIsCreatedWithAWarningAsABackupIsRestored() {
        installation.budget("10", OnExhausted.Refuse);
        ObjectNode late = grant("{name: paper}");
        late.withObject("/spec").put("expiresAt", "2026-03-10T13:00:00+01:00");
        ObjectNode inTime = late.deepCopy();
        inTime.withObject("/spec").put("expiresAt", "2026-03-10T13:00:01+01:00");

        assertThat(ask("CREATE", inTime).warnings()).isEmpty();
        assertThat(ask("CREATE", late).allowed()).isTrue();
        assertThat(ask("CREATE", late).warnings())
                .singleElement()
                .asString()
                .startsWith("spec.expiresAt is 2026-03-10T13:00:00+01:00, which has passed");
    }

    @Test
    void aDecimalNumberWithoutQuotesIsRefusedWithThem() {
        ObjectNode grant = grant("{name: paper}");
        grant.withObject("/spec").put("gpuMinutes", 0.5);

        assertThat(ask("CREATE", grant).message())
                .isEqualTo(
                        "spec.gpuMinutes is the number 0.5; write it in quotes: gpuMinutes: \"0.5\"");
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

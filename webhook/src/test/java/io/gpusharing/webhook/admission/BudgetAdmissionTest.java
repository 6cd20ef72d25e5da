package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** What is said to who writes a {@code GpuBudget}. */
class BudgetAdmissionTest {

    private final Installation installation = new Installation();

    private static ObjectNode budget(String name, String spec) {
        return yaml("{kind: GpuBudget, metadata: {name: %s}, spec: %s}".formatted(name, spec));
    }

    private Answered create(String spec) {
        return ask("CREATE", budget("b", spec));
    }

    private Answered ask(String operation, ObjectNode budget) {
        return installation.ask(
                WebhookType.Mutate,
                Installation.review(operation, "gpusharing.io", "GpuBudget", budget, null));
    }

    @Test
    void aBudgetThatSomebodyDrawsOnIsCreatedWithoutAWarning() {
        Answered answer = create("{namespaces: [team-b], gpuMinutes: '10'}");

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.operations()).isEmpty();
        assertThat(answer.warnings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{timeZone: Europe/Berln}|spec.period.timeZone is \"Europe/Berln\"; use an IANA name",
                "{anchor: '2026-02-31T00:00:00'}|spec.period.anchor is \"2026-02-31T00:00:00\"; use a day of the calendar"
            })
    void whatCanNeverBeUnderstoodIsRefusedWithWhatCan(String period, String message) {
        Answered answer =
                create("{namespaces: [team-b], gpuMinutes: '10', period: %s}".formatted(period));

        assertThat(answer.allowed()).isFalse();
        assertThat(answer.code()).isEqualTo(422);
        assertThat(answer.message()).startsWith(message);
    }

    @Test
    void everythingThatIsWrongIsNamedAtOnce() {
        Answered answer =
                create(
                        "{namespaces: [team-b], gpuMinutes: 0.25, rollover: {maxGpuMinutes: 1.5}, period: {timeZone: Mars/Phobos}}");

        assertThat(answer.message())
                .contains(
                        "3 problems",
                        "spec.gpuMinutes is the number 0.25; write it in quotes: gpuMinutes: \"0.25\"",
                        "spec.rollover.maxGpuMinutes is the number 1.5",
                        "Mars/Phobos");
    }

    @Test
    void anIntegerNeedsNoQuotes() {
        assertThat(create("{namespaces: [team-b], gpuMinutes: 1200}").allowed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{namespaces: team-b}",
                "{namespaces: [team-b], onExhausted: Cry}",
                "{namespaces: [team-b], debt: none}",
                "text"
            })
    void whatTheDefinitionRefusesIsLeftToIt(String spec) {
        assertThat(create(spec).allowed()).isTrue();
        assertThat(create(spec).warnings()).isEmpty();
    }

    @Test
    void aNamespaceThatAnOlderBudgetKeepsIsNamed() {
        installation.budget("10", OnExhausted.Refuse);

        assertThat(create("{namespaces: [team-a, team-b]}").warnings())
                .containsExactly(
                        "team-a draws on the older budget a, so this one changes nothing for it");
    }

    @Test
    void aBudgetIsNotInItsOwnWay() {
        installation.budget("10", OnExhausted.Refuse);

        assertThat(ask("UPDATE", budget("a", "{namespaces: [team-a]}")).warnings()).isEmpty();
    }

    @Test
    void aBudgetOnWhichNobodyDrawsIsCreatedWithAWarningThatSaysSo() {
        installation.budget("10", OnExhausted.Refuse);

        Answered answer = create("{namespaces: [team-a, taem-a, kube-system]}");

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings())
                .containsExactly(
                        "no namespace of spec.namespaces draws on this budget now: it is Inactive",
                        "team-a draws on the older budget a, so this one changes nothing for it",
                        "there is no namespace taem-a yet; is it misspelled?",
                        "GPUSharing leaves the pods of kube-system alone, so they draw on no budget");
    }
}

package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NewPodRulesTest {

    private final NewPodRules rules =
            new NewPodRules(new RequestGrammars(List.of(new VcudaGrammar())));

    private void judge(String container) {
        rules.requireLegal(
                Serialization.unmarshal("containers: [%s]".formatted(container), PodSpec.class),
                "spec.template.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "limits: {tencent.com/vcuda-core: 1 2}",
                "requests: {cpu: 1 k}",
                "limits: {cpu: 1ki}",
                "limits: {cpu: 9e999}"
            })
    void anAmountThatIsNoneIsRefusedInWords(String resources) {
        assertThatThrownBy(() -> judge("{name: cuda, resources: {%s}}".formatted(resources)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("spec.template.spec");
    }

    @ParameterizedTest
    @ValueSource(strings = {"9e999", "1E-400", "-9e999", "1e2147483648", ".5", "5."})
    void whateverKubernetesTakesForAnAmountIsTaken(String amount) {
        assertThatCode(() ->
                        judge("{name: cuda, resources: {limits: {cpu: '%s'}}}".formatted(amount)))
                .doesNotThrowAnyException();
    }

    @Test
    void whatTheGrammarsRefuseIsSaidWithItsFieldAndWhatWouldBeLegal() {
        assertThatThrownBy(() ->
                        judge(
                                "{name: cuda, resources: {limits: {tencent.com/vcuda-core: 150, tencent.com/vcuda-memory: 16}}}"))
                .hasMessageStartingWith("spec.template.spec.containers: container \"cuda\"")
                .hasMessageContaining("is 150")
                .hasMessageContaining("use 1..99");
        assertThatThrownBy(() -> judge("")).hasMessageContaining("spec.containers is empty");
        assertThatThrownBy(() -> judge("{image: cuda}")).hasMessageContaining("has no name");
    }

    /** A site may have a default for it. */
    @Test
    void whatAdmissionMayCompleteIsTaken() {
        assertThatCode(() ->
                        judge("{name: cuda, resources: {limits: {tencent.com/vcuda-core: 50}}}"))
                .doesNotThrowAnyException();
    }
}

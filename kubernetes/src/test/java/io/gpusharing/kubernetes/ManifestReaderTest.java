package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.Names;
import io.gpusharing.kubernetes.ManifestReader.ManifestException;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestReaderTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");
    private static final String POD =
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: train, annotations: {team: a, gpusharing.io/budget: of-somebody-else}}
            spec: {containers: [{name: cuda, image: cuda}]}
            """;

    private final ManifestReader manifests =
            new ManifestReader(new RequestGrammars(List.of(new VcudaGrammar())));

    private Map<String, String> annotations(@Nullable String budget) throws Exception {
        return manifests.read(POD, "team-a", budget, NOON).getMetadata().getAnnotations();
    }

    /** Who shares GPUs with whom follows from it. */
    @Test
    void theBudgetIsTheNamespacesWhateverTheManifestSays() throws Exception {
        assertThat(annotations("team-a"))
                .containsOnly(Map.entry("team", "a"), Map.entry(Names.BUDGET_ANNOTATION, "team-a"));
    }

    @Test
    void severalDocumentsAreRefusedInWords() {
        assertThatThrownBy(() -> manifests.object(POD + "---\n" + POD))
                .hasMessage("The manifest has several documents; ask about one of them");
        assertThatThrownBy(() -> manifests.object("# nothing"))
                .hasMessageContaining("no object with apiVersion");
    }

    /** Who reads them writes them out: 800 bytes would become 3 GB. */
    @Test
    void aliasesThatStandForMoreThanMemoryHoldsAreRefused() {
        var doubled = new StringBuilder("kind: Pod\na0: &a0 [" + "0, ".repeat(100) + "0]\n");
        for (int i = 1; i < 24; i++) {
            doubled.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
        }
        String ofItself = "kind: Pod\nspec: &a [" + "0, ".repeat(30_000) + "*a]";

        for (String text :
                List.of(
                        doubled.toString(),
                        ofItself,
                        "a: &a 1\nb: &a [*a]",
                        "\u2003{: no space to who reads bytes\n" + doubled)) {
            assertThatThrownBy(() -> manifests.object(text))
                    .hasMessageContaining(
                            "more than 40000 keys and values, counting what its aliases stand for");
        }
    }

    @Test
    void aFewAliasesAreRead() throws Exception {
        assertThat(manifests.object("a: &a {b: &b c}\nd: *a\ne: [*b, *b]"))
                .isEqualTo(
                        manifests.object(
                                "{a: {b: c}, d: {b: c}, e: [c, c]}".replaceAll("(\\w)", "\"$1\"")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "limits: {tencent.com/vcuda-core: {}}",
                "limits: {tencent.com/vcuda-core: ''}",
                "requests: {cpu: 1 k}",
                "limits: {cpu: 1ki}",
                "limits: {cpu: 9e999}"
            })
    void anAmountThatIsNoneIsRefusedInWords(String resources) {
        String pod = POD.replace("image: cuda}", "image: cuda, resources: {%s}}");

        assertThatThrownBy(() -> manifests.read(pod.formatted(resources), "team-a", null, NOON))
                .isInstanceOf(ManifestException.class)
                .hasMessageStartingWith("spec");
    }

    @ParameterizedTest
    @ValueSource(strings = {"9e999", "1E-400", "-9e999", "1e2147483648", ".5", "5."})
    void whateverKubernetesTakesForAnAmountIsTaken(String amount) throws Exception {
        String pod = POD.replace("image: cuda}", "image: cuda, resources: {limits: {cpu: '%s'}}}");

        assertThat(manifests.read(pod.formatted(amount), "team-a", null, NOON)).isNotNull();
    }

    @Test
    void whereNoBudgetPaysThereIsNone() throws Exception {
        assertThat(annotations(null)).containsOnly(Map.entry("team", "a"));
    }
}

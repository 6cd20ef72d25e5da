package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.Names;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

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

    @Test
    void whereNoBudgetPaysThereIsNone() throws Exception {
        assertThat(annotations(null)).containsOnly(Map.entry("team", "a"));
    }
}

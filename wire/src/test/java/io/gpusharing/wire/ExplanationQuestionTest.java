package io.gpusharing.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExplanationQuestionTest {

    private static ExplanationQuestion about(
            @Nullable PodName pod, @Nullable String newPod, int nodes) {
        return new ExplanationQuestion(
                "ada",
                "",
                List.of("research", "system:authenticated"),
                Map.of("Scopes.example.com/a%b", List.of("user:info", "user:full")),
                pod,
                newPod,
                nodes);
    }

    @Test
    void whatIsWrittenIsReadAndWhoAsksIsTheSame() throws Exception {
        var json = new ObjectMapper();
        ExplanationQuestion question = about(new PodName("team-a", "train"), null, 0);

        assertThat(json.readValue(json.writeValueAsBytes(question), ExplanationQuestion.class))
                .isEqualTo(question);
    }

    @Test
    void aQuestionIsAboutOnePod() {
        assertThatThrownBy(() -> about(null, null, 5)).hasMessageContaining("about a pod or");
        assertThatThrownBy(() -> about(new PodName("team-a", "train"), "{}", 5))
                .hasMessageContaining("about a pod or");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 51, Integer.MAX_VALUE})
    void soManyNodesNobodyLooksAt(int nodes) {
        assertThatThrownBy(() -> about(null, "{}", nodes))
                .hasMessage("nodes is from 0 to 50, not " + nodes);
    }
}

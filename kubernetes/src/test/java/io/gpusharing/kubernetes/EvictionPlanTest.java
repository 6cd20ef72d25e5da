package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One rule for both services of what a GpuEviction must say. */
class EvictionPlanTest {

    private static final String UID = "8f1b0d0c-4f83-4a0e-9d3b-1f0a4f6b1c2d";

    private static final String OBJECT =
            """
            {"metadata": {"name": "preemption-x", "uid": "%1$s", "creationTimestamp": "2026-03-02T10:00:00Z"},
             "spec": {"cause": "Preemption", "node": "gpu-1",
               "victims": [{"namespace": "team-a", "name": "v", "uid": "%1$s", "node": "gpu-1", "why": "why",
                 "refusedSince": "2026-03-02T09:50:00Z"}],
               "waiter": {"namespace": "team-b", "name": "w", "uid": "%1$s", "since": "2026-03-02T09:55:00Z"},
               "considered": {"spared": {}, "nearest": []},
               "settlesAt": "2026-03-02T10:02:00Z"},
             "status": {"phase": "Done", "plannedAt": "2026-03-02T10:00:01Z",
               "victims": [{"uid": "%1$s", "result": "Preempted"}]}}
            """
                    .formatted(UID);

    private static EvictionPlan read(String object) {
        return EvictionPlan.of(Serialization.unmarshal(object, GpuEviction.class));
    }

    @Test
    void whatItSaysIsRead() {
        EvictionPlan plan = read(OBJECT);

        assertThat(plan.phase()).isEqualTo(Phase.Done);
        assertThat(plan.created()).isEqualTo("2026-03-02T10:00:00Z");
        assertThat(plan.plannedAt()).isEqualTo("2026-03-02T10:00:01Z");
        assertThat(plan.isLate(Instant.parse("2026-03-02T10:01:59Z"))).isFalse();
        assertThat(plan.isLate(Instant.parse("2026-03-02T10:02:00Z"))).isTrue();
        assertThat(plan.answers())
                .extracting(EvictionPlan::result)
                .containsExactly(Result.Preempted);
        assertThat(plan.hasEnded(plan.victims().getFirst())).isTrue();
        assertThat(plan.isCarriedOut()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"cause\": \"Preemption\" | \"cause\": \"Idle\"",
                "\"phase\": \"Done\" | \"phase\": \"Postponed\"",
                "\"result\": \"Preempted\" | \"result\": \"Moved\"",
                "\"name\": \"v\", \"uid\": \"8f1b | \"name\": \"v\", \"uid\": \"uid",
                "\"name\": \"w\", \"uid\": \"8f1b | \"name\": \"w\", \"uid\": \"uid",
                "{\"uid\": \"8f1b | {\"uid\": \"uid",
                "\"preemption-x\", \"uid\": \"8f1b | \"preemption-x\", \"uid\": \"uid",
                "\"name\": \"v\" | \"name\": \"../v\"",
                "\"namespace\": \"team-a\" | \"namespace\": \"../a\"",
                "\"name\": \"w\" | \"name\": \"../w\"",
                "09:50:00Z | yesterday",
                "2026-03-02T09:55:00Z | 1969-03-02T09:55:00Z",
                "2026-03-02T09:55:00Z | 10000-03-02T09:55:00Z",
                "\"nearest\": [] | \"nearest\": null",
                "\"settlesAt\": \"2026-03-02T10:02:00Z\" | \"settlesAt\": null",
                "10:00:01Z | soon",
                "10:00:00Z | then",
            })
    void whereOneTextIsNotUnderstoodItIsNotRead(String text, String instead) {
        assertThat(OBJECT).contains(text);
        String object = OBJECT.replaceFirst(Pattern.quote(text), instead);

        assertThatThrownBy(() -> read(object)).isInstanceOf(RuntimeException.class);
    }

    @Test
    void withoutVictimsItIsNotRead() {
        GpuEviction object =
                GpuEvictions.of(
                        "x", new GpuEviction.Spec("Reclaim", "gpu-1", List.of(), null, null, null));
        object.setMetadata(
                new ObjectMetaBuilder()
                        .withUid(UID)
                        .withCreationTimestamp("2026-03-02T10:00:00Z")
                        .build());

        assertThatThrownBy(() -> EvictionPlan.of(object)).hasMessageContaining("no victim");
    }
}

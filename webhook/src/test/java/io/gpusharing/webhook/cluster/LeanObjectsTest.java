package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.LimitRangeList;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeanObjectsTest {

    private static final String BUDGET =
            """
            {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget",
             "metadata": {"name": "team-a", "uid": "u", "generation": 3, "resourceVersion": "7", "labels": null,
              "creationTimestamp": "2026-03-01T10:00:00Z", "annotations": {"a": "b"},
              "managedFields": [{"manager": "timekeeper", "fieldsV1": {"f:status": {".": {}}}}]},
             "spec": {"namespaces": ["team-a", "team-b"], "gpuMinutes": "1200", "warnAtPercent": [80],
              "period": {"unit": "Week", "timeZone": "Europe/Berlin", "anchor": "2026-01-05T00:00:00"},
              "rollover": {"maxGpuMinutes": "60"}, "debt": {"maxPercent": 10}, "onExhausted": "Refuse",
              "share": {"formula": "Mean"}},
             "status": {"observedGeneration": 3, "asOf": "2026-03-10T12:00:00Z", "exhaustedAt": null,
              "period": {"start": "2026-03-09T00:00:00Z", "end": "2026-03-16T00:00:00Z"},
              "granted": 75600000000, "used": 9000000, "remaining": 75591000000, "rate": 500000,
              "credits": [
               {"source": "allowance", "remaining": 72000000000, "from": "2026-03-09T00:00:00Z"},
               {"source": "grant", "remaining": 3600000000, "from": "2026-03-09T00:00:00Z",
                "until": "2026-03-12T00:00:00Z"}],
              "namespaces": [{"name": "team-a", "used": 9000000, "usedMinutes": "0.15", "rate": 500000}],
              "conditions": [{"type": "Understood", "status": "%s", "message": "as \\"it\\" is"}]}}
            """;

    private final KubernetesSerialization lean = LeanObjects.serialization();

    private Object watched(String object) {
        return lean.unmarshal(
                        "{\"type\": \"MODIFIED\", \"object\": %s}".formatted(object),
                        WatchEvent.class)
                .getObject();
    }

    @ParameterizedTest
    @ValueSource(strings = {"True", "False"})
    void aBudgetStandsAsIfNothingWereLeftOut(String understood) {
        String text = BUDGET.formatted(understood);
        PublishedBudget whole =
                new KubernetesSerialization().unmarshal(text, GpuBudget.class).published();

        PublishedBudget budget = ((GpuBudget) watched(text)).published();

        assertThat(budget.line()).isEqualTo(whole.line());
        assertThat(budget.line().isPresent()).isEqualTo(understood.equals("True"));
        assertThat(budget.created()).isEqualTo(whole.created());
        assertThat(budget.spec().namespaces()).isEqualTo(whole.spec().namespaces());
        assertThat(budget.spec().onExhausted()).isEqualTo(whole.spec().onExhausted());
    }

    @Test
    void aListedBudgetIsReadAsAWatchedOne() {
        String text = BUDGET.formatted("True");

        GpuBudget listed = lean.unmarshal(text, GpuBudget.class);

        assertThat(listed.published()).isEqualTo(((GpuBudget) watched(text)).published());
        assertThat(listed.getMetadata()).isEqualTo(((GpuBudget) watched(text)).getMetadata());
        assertThat(listed.getMetadata().getName()).isEqualTo("team-a");
        assertThat(listed.getMetadata().getGeneration()).isEqualTo(3);
        assertThat(listed.getMetadata().getResourceVersion()).isEqualTo("7");
    }

    @Test
    void aBudgetWithoutAStatusIsCountedFromItsCreation() {
        String text =
                """
                {"kind": "GpuBudget", "apiVersion": "gpusharing.io/v1alpha1",
                 "metadata": {"name": "new", "creationTimestamp": "2026-03-01T10:00:00Z"},
                 "spec": {"namespaces": ["team-a"], "gpuMinutes": "10"}}
                """;
        PublishedBudget whole =
                new KubernetesSerialization().unmarshal(text, GpuBudget.class).published();

        PublishedBudget budget = ((GpuBudget) watched(text)).published();

        assertThat(budget).isEqualTo(whole);
        assertThat(budget.created()).isEqualTo(Instant.parse("2026-03-01T10:00:00Z"));
    }

    @Test
    void aBookmarkTellsItsVersion() {
        var bookmark =
                (GpuBudget)
                        watched(
                                """
                                {"kind": "GpuBudget", "apiVersion": "gpusharing.io/v1alpha1", "spec": null,
                                 "metadata": {"resourceVersion": "12", "creationTimestamp": null}}
                                """);

        assertThat(bookmark.getMetadata().getResourceVersion()).isEqualTo("12");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"n\", \"managedFields\": [{}]}}",
                "{\"metadata\": {\"name\": \"n\"}, \"kind\": \"Node\", \"apiVersion\": \"v1\"}",
            })
    void anotherObjectIsWhatItSaysThatItIs(String text) {
        var node = (Node) watched(text);

        assertThat(node.getMetadata().getName()).isEqualTo("n");
        assertThat(node.getMetadata().getManagedFields()).isEmpty();
    }

    @Test
    void anErrorIsAStatus() {
        var status =
                (Status)
                        watched(
                                """
                                {"kind": "Status", "apiVersion": "v1", "metadata": {}, "code": 410, "message": "too old"}
                                """);

        assertThat(status.getCode()).isEqualTo(410);
    }

    /** A tenant may write them on a LimitRange or a ConfigMap of its own. */
    @Test
    void managedFieldsHoweverDeepAndLongEndNoListAndNoWatch() {
        String text =
                """
                {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "deep", "namespace": "team-a",
                 "managedFields": [{"manager": "m", "fieldsV1": %s}]},
                 "spec": {"limits": [{"type": "Container", "max": {"cpu": "9e999"}}]}}
                """
                        .formatted(
                                "{\"f:%s\": ".formatted("x".repeat(60_000))
                                        + "{\"f:a\": ".repeat(9_000)
                                        + "{}"
                                        + "}".repeat(9_001));
        String list =
                """
                {"apiVersion": "v1", "kind": "LimitRangeList", "metadata": {"resourceVersion": "7"}, "items": [%s]}
                """
                        .formatted(text);

        var listed = lean.unmarshal(list, LimitRangeList.class).getItems();
        var watched = (LimitRange) watched(text);

        assertThat(listed).containsExactly(watched);
        assertThat(watched.getMetadata().getManagedFields()).isEmpty();
        assertThat(LimitRangeReader.limits(watched).max()).containsOnlyKeys("cpu");
    }

    @Test
    void managedFieldsOfABudgetHoweverDeepEndNoWatch() {
        String deep = "{\"f:a\": ".repeat(9_000) + "{}" + "}".repeat(9_000);
        String text = BUDGET.formatted("True").replace("{\"f:status\": {\".\": {}}}", deep);

        var budget = (GpuBudget) watched(text);

        assertThat(text).contains(deep);
        assertThat(budget.published().line()).isPresent();
    }

    @Test
    void ofAGpuNodeTheResourcesStayAndHowLargeItsGpusAre() {
        GpuNode node =
                lean.unmarshal(
                        """
                        {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNode", "metadata": {"name": "a"},
                         "status": {"tier": "TimeSlice", "resources": ["tencent.com/vcuda-core"], "gpus": [{"uuid": "GPU-1", "memoryMiB": 16384, "grants": [{"podUid": "u"}]}],
                          "refused": [{"podUid": "u", "namespace": "n", "pod": "p", "since": "2026-03-01T10:00:00Z",
                           "final": true, "ran": false, "reason": "no"}]}}
                        """,
                        GpuNode.class);

        assertThat(node.getStatus().resources()).containsExactly("tencent.com/vcuda-core");
        assertThat(node.getStatus().refused()).isNull();
        assertThat(node.getStatus().gpus())
                .extracting(GpuNodeStatus.Gpu::memoryMiB, GpuNodeStatus.Gpu::grants)
                .containsExactly(tuple(16_384L, null));
    }
}

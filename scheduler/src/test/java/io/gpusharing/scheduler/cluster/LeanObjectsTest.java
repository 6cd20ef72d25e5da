package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodList;
import org.junit.jupiter.api.Test;

class LeanObjectsTest {

    /** A tenant may write its pod's managed fields; the API server stores what parses as a set. */
    @Test
    void managedFieldsHoweverDeepAndLongEndNoList() {
        String fields =
                "{\"f:%s\": ".formatted("x".repeat(60_000))
                        + "{\"f:a\": ".repeat(9_000)
                        + "{}"
                        + "}".repeat(9_001);
        String list =
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [
                  {"metadata": {"name": "one", "managedFields": [{"manager": "m", "fieldsV1": %s}]}},
                  {"metadata": {"name": "two"}}]}
                """
                        .formatted(fields);

        PodList pods = LeanObjects.serialization().unmarshal(list, PodList.class);

        assertThat(pods.getItems())
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly("one", "two");
    }
}

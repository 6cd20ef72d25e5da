package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodList;
import org.junit.jupiter.api.Test;

class ApiServerJsonTest {

    /** A tenant may write its pod's managed fields; the API server stores what parses as a set. */
    @Test
    void managedFieldsHoweverDeepAndLongEndNoList() {
        String list =
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [
                  {"metadata": {"name": "one", "managedFields": [{"manager": "m", "fieldsV1": %s}]}},
                  {"metadata": {"name": "two", "annotations": {"long": "%s"}}}]}
                """
                        .formatted(
                                "{\"f:%s\": ".formatted("x".repeat(60_000))
                                        + "{\"f:a\": ".repeat(9_000)
                                        + "{}"
                                        + "}".repeat(9_001),
                                "y".repeat(1_000_000));

        PodList pods = ApiServerJson.serialization().unmarshal(list, PodList.class);

        assertThat(pods.getItems())
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly("one", "two");
    }
}

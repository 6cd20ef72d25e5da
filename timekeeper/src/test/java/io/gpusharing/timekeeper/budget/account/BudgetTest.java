package io.gpusharing.timekeeper.budget.account;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.GpuBudget;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class BudgetTest {

    /** We write the status all the time. */
    @Test
    void itWasEditedWhenItsSpecWasWrittenAndNotWhenItsStatusWas() throws Exception {
        GpuBudget object =
                JsonMapper.shared()
                        .readValue(
                                """
                                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget", "metadata": {
                                  "name": "a", "uid": "uid-of-a", "generation": 3,
                                  "creationTimestamp": "2026-03-02T10:00:00Z",
                                  "managedFields": [
                                    {"manager": "kubectl-create", "operation": "Update", "time": "2026-03-02T10:00:00Z"},
                                    {"manager": "kubectl-edit", "operation": "Update", "time": "2026-03-02T11:00:00Z"},
                                    {"manager": "gpusharing-timekeeper", "operation": "Apply", "subresource": "status",
                                     "time": "2026-03-02T12:00:00Z"}]},
                                 "spec": {"namespaces": ["team-a"], "gpuMinutes": "10"}}
                                """,
                                GpuBudget.class);

        assertThat(Budget.of(object).edited()).isEqualTo(Instant.parse("2026-03-02T11:00:00Z"));
    }
}

package io.gpusharing.scheduler.testing;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.scheduler.cluster.LeanObjects;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Objects of budgets, as the API server stores them; a test changes in them what it is about. */
public final class BudgetObjects {

    private static final JsonMapper JSON = new JsonMapper();

    private BudgetObjects() {}

    /**
     * A budget of one namespace of its own name, with an hour a month, of which it holds one GPU.
     *
     * @param left what is left of it at {@code asOf}, in seconds of a GPU; negative by its overrun
     */
    public static ObjectNode budget(String name, long left, Instant asOf) {
        long micros = left * 1_000_000;
        String credits =
                left <= 0
                        ? ""
                        : """
                        {"source": "allowance", "remaining": %d, "from": "2026-03-01T00:00:00Z",
                         "until": "2026-04-01T00:00:00Z"}
                        """
                                .formatted(micros);
        return object(
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget",
                 "metadata": {"name": "%1$s", "uid": "uid-%1$s", "generation": 2, "annotations": {},
                   "creationTimestamp": "2026-02-01T00:00:00Z"},
                 "spec": {"namespaces": ["%1$s"], "gpuMinutes": "60", "onExhausted": "Reclaim"},
                 "status": {"observedGeneration": 2, "asOf": "%2$s", "remaining": %3$d,
                   "rate": 1000000, "credits": [%4$s],
                   "period": {"start": "2026-03-01T00:00:00Z", "end": "2026-04-01T00:00:00Z"}}}
                """
                        .formatted(name, asOf, micros, credits));
    }

    /** A grant of ten hours to a budget. */
    public static ObjectNode grant(String name, String budget, Instant created) {
        return object(
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrant",
                 "metadata": {"name": "%s", "creationTimestamp": "%s"},
                 "spec": {"budget": "%s", "gpuMinutes": "600", "reason": "a deadline"}}
                """
                        .formatted(name, created, budget));
    }

    /** The timekeeper's word, of a whole second. */
    public static ObjectNode word(Instant caughtUp, String... behind) {
        return object(
                """
                {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                 "metadata": {"name": "gpusharing-ledger", "namespace": "gpusharing-system",
                   "annotations": {"gpusharing.io/behind": "[%s]"}},
                 "spec": {"renewTime": "%s"}}
                """
                        .formatted(
                                Arrays.stream(behind)
                                        .map("\\\"%s\\\""::formatted)
                                        .collect(Collectors.joining(",")),
                                // The API server writes microseconds, also where there are none.
                                caughtUp.toString().replace("Z", ".000000Z")));
    }

    private static ObjectNode object(String text) {
        return (ObjectNode) JSON.readTree(text);
    }

    /** Reads a budget as the scheduler's client does. */
    public static GpuBudget read(ObjectNode budget) {
        return LeanObjects.serialization().unmarshal(budget.toString(), GpuBudget.class);
    }

    /** Reads a grant as the scheduler's client does. */
    public static GenericKubernetesResource readGrant(ObjectNode grant) {
        return LeanObjects.serialization()
                .unmarshal(grant.toString(), GenericKubernetesResource.class);
    }
}

package io.gpusharing.webhook.standing;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.PublishedBudget;
import java.time.Instant;

/** The custom resource as the API server stores it. */
@Group("gpusharing.io")
@Version("v1alpha1")
public class GpuBudget extends CustomResource<GpuBudgetSpec, GpuBudgetStatus> {

    private static final long serialVersionUID = 1;

    PublishedBudget published() {
        return new PublishedBudget(
                getMetadata().getName(),
                Instant.parse(getMetadata().getCreationTimestamp()),
                getSpec(),
                getStatus());
    }
}

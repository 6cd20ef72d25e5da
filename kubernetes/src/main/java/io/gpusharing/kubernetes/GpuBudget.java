package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.ApiTime;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.PublishedBudget;

/** A {@code GpuBudget} as the API server stores it. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind(GpuBudget.KIND)
@Plural("gpubudgets")
public class GpuBudget extends CustomResource<GpuBudgetSpec, GpuBudgetStatus> {

    public static final String GROUP = "gpusharing.io";
    public static final String VERSION = "v1alpha1";
    public static final String KIND = "GpuBudget";
    public static final String API_VERSION = GROUP + "/" + VERSION;

    private static final long serialVersionUID = 1;

    /** What standings are computed from. */
    public PublishedBudget published() {
        return new PublishedBudget(
                getMetadata().getName(),
                ApiTime.read(getMetadata().getCreationTimestamp()),
                getSpec(),
                getStatus());
    }
}

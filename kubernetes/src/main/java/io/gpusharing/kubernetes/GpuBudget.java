package io.gpusharing.kubernetes;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
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

    /** Label of one that the timekeeper made for namespaces that no other names. */
    public static final String MADE_BY_DEFAULT = Names.PREFIX + "default";

    /** Name of the one that all such namespaces share, where they do. */
    public static final String OF_UNNAMED_NAMESPACES = "unnamed-namespaces";

    private static final long serialVersionUID = 1;

    /**
     * Whether the timekeeper made it, so that namespaces draw on it which it does not name yet. One
     * of an administrator may happen to bear the name.
     */
    @JsonIgnore
    public boolean isMadeByDefault() {
        return getMetadata().getLabels() != null
                && "true".equals(getMetadata().getLabels().get(MADE_BY_DEFAULT));
    }

    /** What standings are computed from. */
    public PublishedBudget published() {
        return new PublishedBudget(
                getMetadata().getName(),
                ApiTime.read(getMetadata().getCreationTimestamp()),
                getSpec(),
                getStatus());
    }
}

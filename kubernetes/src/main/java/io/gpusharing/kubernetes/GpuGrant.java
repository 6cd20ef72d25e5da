package io.gpusharing.kubernetes;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** A {@code GpuGrant} as the API server stores it. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuGrant")
@Plural("gpugrants")
public class GpuGrant extends CustomResource<GpuGrant.Spec, Void> {

    /**
     * What it grants. It cannot be changed.
     *
     * @param notBefore first instant at which it counts; null from its creation on
     * @param expiresAt first instant at which it does not; null for the end of the period
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Spec(
            String budget,
            String gpuMinutes,
            String reason,
            @Nullable String notBefore,
            @Nullable String expiresAt) {}
}

package io.gpusharing.timekeeper.allocation.claim;

import io.fabric8.kubernetes.api.model.ContainerExtendedResourceRequest;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodExtendedResourceClaimStatus;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodResourceClaimStatus;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim that a pod names, or that was made for it.
 *
 * @param template what it was made from; null if it was not
 * @param extended requests in it by extended resources; null if it was not made for these
 */
record NamedClaim(
        String claim,
        @Nullable String template,
        @Nullable List<ContainerExtendedResourceRequest> extended) {

    /** All claims of a pod, each once. */
    static List<NamedClaim> of(Pod pod) {
        var templates = new HashMap<String, String>();
        // By name: containers that share a claim may list it under several.
        var claims = new LinkedHashMap<String, NamedClaim>();
        for (PodResourceClaim claim : pod.getSpec().getResourceClaims()) {
            String name = claim.getResourceClaimName();
            if (name != null) {
                claims.put(name, new NamedClaim(name, null, null));
            }
            templates.put(claim.getName(), claim.getResourceClaimTemplateName());
        }
        if (pod.getStatus() == null) {
            return List.copyOf(claims.values());
        }
        for (PodResourceClaimStatus made : pod.getStatus().getResourceClaimStatuses()) {
            String name = made.getResourceClaimName();
            // Null where the template's controller found that none is needed.
            if (name != null) {
                claims.putIfAbsent(name, new NamedClaim(name, templates.get(made.getName()), null));
            }
        }
        PodExtendedResourceClaimStatus extended = pod.getStatus().getExtendedResourceClaimStatus();
        if (extended != null) {
            String name = extended.getResourceClaimName();
            claims.putIfAbsent(name, new NamedClaim(name, null, extended.getRequestMappings()));
        }
        return List.copyOf(claims.values());
    }

    /** Made for the pod alone, it is no other's. */
    boolean isOthersToo() {
        return template == null && extended == null;
    }
}

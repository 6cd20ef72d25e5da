package io.gpusharing.webhook.pod;

import io.gpusharing.Names;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which claims may be for GPUs.
 *
 * @param drivers of Dynamic Resource Allocation whose devices are GPUs
 */
@ConfigurationProperties("gpusharing.claims")
public record ClaimProperties(@DefaultValue List<DriverProperties> drivers) {

    /**
     * @param name as ResourceSlices and allocations name it
     * @param extendedResources that its device classes name ({@code spec.extendedResourceName})
     */
    public record DriverProperties(String name, @DefaultValue List<String> extendedResources) {}

    /**
     * Whether the scheduler makes a claim for who asks for this resource. Of which class does not
     * matter: whose its devices are is seen when they are allocated.
     */
    public boolean isClaimed(String resource) {
        return !drivers.isEmpty()
                && (resource.startsWith(Names.DEVICE_CLASS_RESOURCE_PREFIX)
                        || drivers.stream()
                                .anyMatch(it -> it.extendedResources().contains(resource)));
    }
}

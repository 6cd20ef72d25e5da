package io.gpusharing.timekeeper.claims;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.api.model.ContainerExtendedResourceRequest;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodExtendedResourceClaimStatus;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodResourceClaimStatus;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.RequestGrammars;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * What pods hold by resource claims.
 *
 * <p>The scheduler allocates and reserves in one write, before the binding, so the claims of a pod
 * that is bound tell. They are read once, when the pod is first seen bound: later an allocation
 * vanishes without a trace, with the pod's end or by somebody who takes the claim's finalizer away
 * while the pod runs on.
 */
@Component
public class ClaimedGpus {

    private static final Logger log = LoggerFactory.getLogger(ClaimedGpus.class);
    private static final int MOST_PODS = 100_000;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final Duration DEVICES_KEPT = Duration.ofMinutes(10);

    private record DeviceKey(String driver, String pool, String device) {}

    /**
     * A claim that a pod names, or that was made for it.
     *
     * @param template what it was made from; null if it was not
     * @param counted requests in it that are extended resources which a grammar reads
     */
    private record Named(String claim, @Nullable String template, Set<String> counted) {}

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final boolean wanted;
    private final AllocatedDevices devices;
    private final Counter unresolved;

    /** Pods whose claims were read. */
    private final Cache<UUID, BoundShare> held =
            Caffeine.newBuilder().maximumSize(MOST_PODS).build();

    private final Cache<DeviceKey, Map<String, Quantity>> capacities =
            Caffeine.newBuilder().expireAfterWrite(DEVICES_KEPT).build();

    ClaimedGpus(
            KubernetesClient client,
            RequestGrammars grammars,
            ClaimProperties properties,
            MeterRegistry registry) {
        this.client = client;
        this.grammars = grammars;
        this.wanted = !properties.drivers().isEmpty();
        this.devices = new AllocatedDevices(properties.drivers());
        this.unresolved =
                Counter.builder("gpusharing.claims.unresolved")
                        .description(
                                "Claims of bound pods that were gone before they were read and may"
                                        + " have been for GPUs; anything but 0 is an alert")
                        .register(registry);
    }

    /**
     * What a pod holds by its claims; nothing before it is bound.
     *
     * @throws KubernetesClientException if the API server cannot be asked now
     */
    public BoundShare of(Pod pod) {
        if (!wanted || pod.getSpec().getNodeName() == null) {
            return BoundShare.NONE;
        }
        List<Named> claims = claims(pod);
        if (claims.isEmpty()) {
            return BoundShare.NONE;
        }
        UUID uid = UUID.fromString(pod.getMetadata().getUid());
        BoundShare known = held.getIfPresent(uid);
        if (known != null) {
            return known;
        }
        BoundShare share = BoundShare.NONE;
        boolean complete = true;
        for (Named named : claims) {
            Optional<BoundShare> part = share(pod, named);
            share = share.plus(part.orElse(BoundShare.NONE));
            complete &= part.isPresent();
        }
        if (complete) {
            held.put(uid, share);
        }
        return share;
    }

    private List<Named> claims(Pod pod) {
        var templates = new HashMap<String, String>();
        var claims = new ArrayList<Named>();
        for (PodResourceClaim claim : pod.getSpec().getResourceClaims()) {
            if (claim.getResourceClaimName() != null) {
                claims.add(new Named(claim.getResourceClaimName(), null, Set.of()));
            }
            templates.put(claim.getName(), claim.getResourceClaimTemplateName());
        }
        if (pod.getStatus() == null) {
            return claims;
        }
        for (PodResourceClaimStatus made : pod.getStatus().getResourceClaimStatuses()) {
            // Null where the template's controller found that none is needed.
            if (made.getResourceClaimName() != null) {
                claims.add(
                        new Named(
                                made.getResourceClaimName(),
                                templates.get(made.getName()),
                                Set.of()));
            }
        }
        PodExtendedResourceClaimStatus extended = pod.getStatus().getExtendedResourceClaimStatus();
        if (extended != null) {
            claims.add(
                    new Named(
                            extended.getResourceClaimName(),
                            null,
                            extended.getRequestMappings().stream()
                                    .filter(it -> grammars.reads(it.getResourceName()))
                                    .map(ContainerExtendedResourceRequest::getRequestName)
                                    .collect(Collectors.toSet())));
        }
        return claims;
    }

    /** Empty as long as the claim is not the pod's: then nothing of it can run. */
    private Optional<BoundShare> share(Pod pod, Named named) {
        try {
            return read(pod, named);
        } catch (KubernetesClientException e) {
            if (e.getCode() / 100 != 4 || e.getCode() == TOO_MANY_REQUESTS) {
                throw e;
            }
            // Without a right for one claim all other pods are charged on.
            tellUnresolved(pod, named, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    private Optional<BoundShare> read(Pod pod, Named named) {
        String namespace = pod.getMetadata().getNamespace();
        ResourceClaim claim =
                client.resources(ResourceClaim.class)
                        .inNamespace(namespace)
                        .withName(named.claim())
                        .get();
        if (claim != null && AllocatedDevices.isReservedFor(claim, pod.getMetadata().getUid())) {
            return Optional.of(
                    devices.share(
                            claim,
                            named.counted()::contains,
                            result -> capacities(result, pod.getSpec().getNodeName())));
        }
        if (!hasRun(pod)) {
            return Optional.empty();
        }
        DeviceClaim spec =
                claim != null
                        ? claim.getSpec().getDevices()
                        : named.template() == null ? null : template(namespace, named.template());
        if (spec == null) {
            tellUnresolved(pod, named, "neither the claim nor its template is there any more");
        }
        return Optional.of(devices.asked(spec));
    }

    private void tellUnresolved(Pod pod, Named named, String reason) {
        unresolved.increment();
        log.atWarn()
                .addKeyValue("namespace", pod.getMetadata().getNamespace())
                .addKeyValue("pod", pod.getMetadata().getName())
                .addKeyValue("claim", named.claim())
                .addKeyValue("reason", reason)
                .log("nobody can say whether a pod's claim is for GPUs; it is not charged");
    }

    private static boolean hasRun(Pod pod) {
        return pod.getStatus() != null
                && Stream.of(
                                pod.getStatus().getContainerStatuses(),
                                pod.getStatus().getInitContainerStatuses())
                        .flatMap(List::stream)
                        .map(ContainerStatus::getState)
                        .filter(Objects::nonNull)
                        .anyMatch(it -> it.getRunning() != null || it.getTerminated() != null);
    }

    private @Nullable DeviceClaim template(String namespace, String name) {
        ResourceClaimTemplate template =
                client.resources(ResourceClaimTemplate.class)
                        .inNamespace(namespace)
                        .withName(name)
                        .get();
        return template == null ? null : template.getSpec().getSpec().getDevices();
    }

    private Optional<Map<String, Quantity>> capacities(
            DeviceRequestAllocationResult result, String node) {
        var key = new DeviceKey(result.getDriver(), result.getPool(), result.getDevice());
        if (capacities.getIfPresent(key) == null) {
            learn("spec.nodeName", node);
        }
        if (capacities.getIfPresent(key) == null) {
            // A device that is no node's own.
            learn("spec.driver", result.getDriver());
        }
        return Optional.ofNullable(capacities.getIfPresent(key));
    }

    private void learn(String field, String value) {
        client.resources(ResourceSlice.class).withField(field, value).list().getItems().stream()
                .map(ResourceSlice::getSpec)
                .forEach(slice ->
                        slice.getDevices()
                                .forEach(device ->
                                        capacities.put(
                                                new DeviceKey(
                                                        slice.getDriver(),
                                                        slice.getPool().getName(),
                                                        device.getName()),
                                                capacities(device))));
    }

    private static Map<String, Quantity> capacities(Device device) {
        var amounts = new HashMap<String, Quantity>();
        device.getCapacity()
                .forEach((name, capacity) ->
                        AllocatedDevices.amount(capacity.getValue())
                                .ifPresent(amount -> amounts.put(name, amount)));
        return amounts;
    }
}

package io.gpusharing.timekeeper.allocation.claim;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.api.model.ContainerExtendedResourceRequest;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
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
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.allocation.Claimed;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import tools.jackson.core.JacksonException;

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
    private static final int MAX_PODS = 100_000;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int MAX_CAUSES = 10;
    private static final int MAX_DEVICES = 100_000;
    private static final Duration DEVICES_KEPT = Duration.ofMinutes(10);
    private static final Duration ASKED_AGAIN = Duration.ofSeconds(10);

    /** A claim that may yet become the pod's. */
    private static final Claimed LATER = new Claimed(BoundShare.NONE, List.of(), false);

    private record DeviceKey(String driver, String pool, String device) {}

    /**
     * A claim that a pod names, or that was made for it.
     *
     * @param template what it was made from; null if it was not
     * @param extended requests in it by extended resources; null if it was not made for these
     */
    private record Named(
            String claim,
            @Nullable String template,
            @Nullable List<ContainerExtendedResourceRequest> extended) {

        /** Made for the pod alone, it is no other's. */
        boolean isOthersToo() {
            return template == null && extended == null;
        }
    }

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final boolean wanted;
    private final AllocatedDevices devices;
    private final ExtendedResources extendedResources;
    private final Counter unresolved;

    /** Pods whose claims were read. */
    private final Cache<UUID, Claimed> held = Caffeine.newBuilder().maximumSize(MAX_PODS).build();

    private final Cache<DeviceKey, Map<String, Quantity>> capacities =
            Caffeine.newBuilder().maximumSize(MAX_DEVICES).expireAfterWrite(DEVICES_KEPT).build();

    /** Asked for in vain, a moment ago: their driver may just be restarting. */
    private final Cache<DeviceKey, Boolean> unknown =
            Caffeine.newBuilder().maximumSize(MAX_DEVICES).expireAfterWrite(ASKED_AGAIN).build();

    ClaimedGpus(
            KubernetesClient client,
            RequestGrammars grammars,
            ClaimProperties properties,
            MeterRegistry registry) {
        this.client = client;
        this.grammars = grammars;
        this.wanted = !properties.drivers().isEmpty();
        this.devices = new AllocatedDevices(properties.drivers());
        this.extendedResources = new ExtendedResources(properties.drivers(), grammars);
        this.unresolved =
                Counter.builder("gpusharing.claims.unresolved")
                        .description(
                                "Claims of bound pods of which nobody can say whether they are for"
                                        + " GPUs; each is charged as a whole one. Anything but 0 is"
                                        + " an alert")
                        .register(registry);
    }

    /**
     * What a pod holds by its claims; nothing before it is bound.
     *
     * @throws KubernetesClientException if the API server cannot be asked now
     */
    public Claimed of(Pod pod) {
        if (!wanted || pod.getSpec().getNodeName() == null) {
            return Claimed.NONE;
        }
        List<Named> claims = claims(pod);
        long extended = extendedResources.asked(pod);
        if (claims.isEmpty() && extended == 0) {
            return Claimed.NONE;
        }
        UUID uid = UUID.fromString(pod.getMetadata().getUid());
        Claimed known = held.getIfPresent(uid);
        if (known != null) {
            return known;
        }
        Claimed claimed =
                claims.stream().map(named -> share(pod, named)).reduce(Claimed.NONE, Claimed::plus);
        if (claims.stream().allMatch(named -> named.extended() == null)) {
            // The scheduler notes that claim in the pod's status, where it can be taken away.
            claimed = claimed.plus(hasRun(pod) ? byEstimate(extended) : unlessLater(extended));
        }
        if (claimed.complete()) {
            held.put(uid, claimed);
        }
        return claimed;
    }

    private static Claimed unlessLater(long extended) {
        return extended == 0 ? Claimed.NONE : LATER;
    }

    private List<Named> claims(Pod pod) {
        var templates = new HashMap<String, String>();
        // By name: containers that share a claim may list it under several.
        var claims = new LinkedHashMap<String, Named>();
        for (PodResourceClaim claim : pod.getSpec().getResourceClaims()) {
            String name = claim.getResourceClaimName();
            if (name != null) {
                claims.put(name, new Named(name, null, null));
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
                claims.putIfAbsent(name, new Named(name, templates.get(made.getName()), null));
            }
        }
        PodExtendedResourceClaimStatus extended = pod.getStatus().getExtendedResourceClaimStatus();
        if (extended != null) {
            String name = extended.getResourceClaimName();
            claims.putIfAbsent(name, new Named(name, null, extended.getRequestMappings()));
        }
        return List.copyOf(claims.values());
    }

    private Claimed share(Pod pod, Named named) {
        try {
            return read(pod, named);
        } catch (RuntimeException e) {
            if (isAway(e)) {
                throw e;
            }
            // Whatever is wrong with one claim: all other pods are charged on.
            return unresolved(pod, named, String.valueOf(e.getMessage()));
        }
    }

    /** Whether the API server may answer the same question another time. */
    private static boolean isAway(RuntimeException problem) {
        return problem instanceof KubernetesClientException e
                && (e.getCode() / 100 != 4 || e.getCode() == TOO_MANY_REQUESTS)
                && Stream.<Throwable>iterate(e, Objects::nonNull, Throwable::getCause)
                        .limit(MAX_CAUSES)
                        .noneMatch(JacksonException.class::isInstance);
    }

    private Claimed read(Pod pod, Named named) {
        String namespace = pod.getMetadata().getNamespace();
        ResourceClaim claim =
                client.resources(ResourceClaim.class)
                        .inNamespace(namespace)
                        .withName(named.claim())
                        .get();
        if (claim != null && AllocatedDevices.isReservedFor(claim, pod.getMetadata().getUid())) {
            BoundShare share =
                    devices.share(
                            claim,
                            request -> isCounted(named, request),
                            result -> capacities(result, pod.getSpec().getNodeName()));
            return named.isOthersToo() && !share.equals(BoundShare.NONE)
                    ? new Claimed(
                            BoundShare.NONE,
                            List.of(
                                    new Claimed.ClaimAllocation(
                                            AllocatedDevices.id(claim), named.claim(), share)),
                            true)
                    : own(share);
        }
        if (!hasRun(pod)) {
            // Pods that no scheduler binds come before their claims.
            return LATER;
        }
        if (named.extended() != null) {
            return byEstimate(extendedResources.asked(pod));
        }
        DeviceClaim spec = null;
        if (claim != null) {
            spec = isAsOldAs(claim, pod) ? claim.getSpec().getDevices() : null;
        } else if (named.template() != null) {
            ResourceClaimTemplate template =
                    client.resources(ResourceClaimTemplate.class)
                            .inNamespace(namespace)
                            .withName(named.template())
                            .get();
            spec =
                    template != null && isAsOldAs(template, pod)
                            ? template.getSpec().getSpec().getDevices()
                            : null;
        }
        return spec == null
                ? unresolved(pod, named, "neither the claim nor its template is there any more")
                : byEstimate(devices.asked(spec));
    }

    private boolean isCounted(Named named, String request) {
        return named.extended() != null
                && named.extended().stream()
                        .anyMatch(it ->
                                request.equals(it.getRequestName())
                                        && grammars.reads(it.getResourceName()));
    }

    /** What was made after a pod had started is none of its: a name is free again. */
    private static boolean isAsOldAs(HasMetadata object, Pod pod) {
        String started = pod.getStatus().getStartTime();
        return started == null
                || !Instant.parse(object.getMetadata().getCreationTimestamp())
                        .isAfter(Instant.parse(started));
    }

    private static Claimed own(BoundShare share) {
        return new Claimed(share, List.of(), true);
    }

    private static Claimed byEstimate(long gpus) {
        return gpus == 0 ? Claimed.NONE : own(new BoundShare(GpuShare.whole(gpus), false));
    }

    /** Never nothing: whoever makes the traces vanish would gain by it. */
    private Claimed unresolved(Pod pod, Named named, String reason) {
        if (!hasRun(pod)) {
            return LATER;
        }
        unresolved.increment();
        log.atWarn()
                .addKeyValue("namespace", pod.getMetadata().getNamespace())
                .addKeyValue("pod", pod.getMetadata().getName())
                .addKeyValue("claim", named.claim())
                .addKeyValue("reason", reason)
                .log("nobody can say what a pod's claim is for; it is charged as a whole GPU");
        return byEstimate(1);
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

    private Optional<Map<String, Quantity>> capacities(
            DeviceRequestAllocationResult result, String node) {
        var key = new DeviceKey(result.getDriver(), result.getPool(), result.getDevice());
        if (capacities.getIfPresent(key) == null && unknown.getIfPresent(key) == null) {
            learn("spec.nodeName", node);
            if (capacities.getIfPresent(key) == null) {
                // A device that is no node's own.
                learn("spec.driver", result.getDriver());
            }
            if (capacities.getIfPresent(key) == null) {
                unknown.put(key, true);
            }
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

package io.gpusharing.timekeeper.allocation.claim;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.Claimed;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.grammar.RequestGrammars;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import tools.jackson.core.JacksonException;

/**
 * What pods hold by resource claims.
 *
 * <p>The scheduler allocates and reserves in one write, before the binding, so the claims of a pod
 * that is bound say. They are read once, when the pod is first seen bound: later an allocation
 * vanishes without a trace, with the pod's end or by somebody who takes the claim's finalizer away
 * while the pod runs on.
 */
@Component
public class ClaimedGpus {

    private static final Logger log = LoggerFactory.getLogger(ClaimedGpus.class);
    private static final int MAX_PODS = 100_000;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int MAX_CAUSES = 10;

    /** A claim that may yet become the pod's. */
    private static final Claimed LATER = new Claimed(BoundShare.NONE, List.of(), false);

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final boolean wanted;
    private final AllocatedDevices devices;
    private final DeviceCapacities capacities;
    private final ExtendedResources extendedResources;
    private final Counter unresolved;

    /** Pods whose claims were read. */
    private final Cache<UUID, Claimed> held = Caffeine.newBuilder().maximumSize(MAX_PODS).build();

    ClaimedGpus(
            KubernetesClient client,
            RequestGrammars grammars,
            ClaimProperties properties,
            UnreadableObjects unreadable,
            MeterRegistry registry) {
        this.client = client;
        this.grammars = grammars;
        this.wanted = !properties.drivers().isEmpty();
        this.devices = new AllocatedDevices(properties.drivers());
        this.capacities = new DeviceCapacities(client, unreadable);
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
        List<NamedClaim> claims = NamedClaim.of(pod);
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
            claimed = claimed.plus(estimated(pod, extended));
        }
        if (claimed.complete()) {
            held.put(uid, claimed);
        }
        return claimed;
    }

    private Claimed share(Pod pod, NamedClaim named) {
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

    private Claimed read(Pod pod, NamedClaim named) {
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
                            result -> capacities.of(result, pod.getSpec().getNodeName()));
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
            return estimated(pod, extendedResources.asked(pod));
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
                : estimated(pod, devices.asked(spec));
    }

    private boolean isCounted(NamedClaim named, String request) {
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
                || !ApiTime.read(object.getMetadata().getCreationTimestamp())
                        .isAfter(ApiTime.read(started));
    }

    private static Claimed own(BoundShare share) {
        return new Claimed(share, List.of(), true);
    }

    /** Whole GPUs, once nothing better can come: a pod that runs has all of its claims. */
    private static Claimed estimated(Pod pod, long gpus) {
        if (gpus == 0) {
            return Claimed.NONE;
        }
        return hasRun(pod) ? own(new BoundShare(GpuShare.whole(gpus), false)) : LATER;
    }

    /** Never nothing: otherwise removing the traces would pay. */
    private Claimed unresolved(Pod pod, NamedClaim named, String reason) {
        if (!hasRun(pod)) {
            return LATER;
        }
        unresolved.increment();
        log.atWarn()
                .addKeyValue("namespace", pod.getMetadata().getNamespace())
                .addKeyValue("pod", pod.getMetadata().getName())
                .addKeyValue("claim", named.claim())
                .addKeyValue("reason", reason)
                .log("a pod's claim cannot be resolved; it is charged as a whole GPU");
        return estimated(pod, 1);
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
}

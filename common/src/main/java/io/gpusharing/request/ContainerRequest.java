package io.gpusharing.request;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What one container asks for, as far as it may concern GPUs.
 *
 * @param name the container's name
 * @param kind when it runs beside the pod's other containers
 * @param limits amounts under {@code resources.limits}, by resource name
 * @param requests amounts under {@code resources.requests}, by resource name
 */
public record ContainerRequest(
        String name, Kind kind, Map<String, Quantity> limits, Map<String, Quantity> requests) {

    /** When a container runs. */
    public enum Kind {
        /** From the end of the init containers on, together with all other app containers. */
        App,
        /** An init container with {@code restartPolicy: Always}: from its turn to the pod's end. */
        NativeSidecar,
        /** Alone, one after the other, before the app containers. */
        Init
    }

    public ContainerRequest {
        limits = Map.copyOf(limits);
        requests = Map.copyOf(requests);
    }

    /** With one more amount, requested if the container requests anything of its own accord. */
    public ContainerRequest with(String resource, Quantity amount) {
        var limited = new HashMap<>(limits);
        limited.put(resource, amount);
        var requested = new HashMap<>(requests);
        if (!requests.isEmpty()) {
            requested.put(resource, amount);
        }
        return new ContainerRequest(name, kind, limited, requested);
    }

    /** The limit where there is one, else the request; absent if neither names the resource. */
    public Optional<Quantity> amount(String resource) {
        Quantity limit = limits.get(resource);
        return Optional.ofNullable(limit != null ? limit : requests.get(resource));
    }
}

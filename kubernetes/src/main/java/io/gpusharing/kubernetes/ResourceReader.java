package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.Amounts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads amounts of resources from objects as the API server stores them. */
public final class ResourceReader {

    private ResourceReader() {}

    /**
     * What a pod's containers ask for.
     *
     * @param wanted which resources are read
     */
    public static PodRequest request(PodSpec spec, Predicate<String> wanted) {
        var containers = new ArrayList<ContainerRequest>();
        for (Container container : spec.getContainers()) {
            containers.add(request(container, Kind.App, wanted));
        }
        for (Container container : spec.getInitContainers()) {
            boolean sidecar = "Always".equals(container.getRestartPolicy());
            containers.add(request(container, sidecar ? Kind.NativeSidecar : Kind.Init, wanted));
        }
        return new PodRequest(containers);
    }

    private static ContainerRequest request(
            Container container, Kind kind, Predicate<String> wanted) {
        ResourceRequirements resources = container.getResources();
        return new ContainerRequest(
                container.getName(),
                kind,
                resources == null ? Map.of() : amounts(resources.getLimits(), wanted),
                resources == null ? Map.of() : amounts(resources.getRequests(), wanted));
    }

    /**
     * What a pod takes of its node, as kube-scheduler counts it.
     *
     * @param containers what all of its containers ask for, of every resource
     */
    public static Amounts requests(PodSpec pod, PodRequest containers) {
        ResourceRequirements podLevel = pod.getResources();
        return Amounts.ofPod(
                containers,
                podLevel == null
                        ? Amounts.NONE
                        : amounts(podLevel.getLimits())
                                .overriddenBy(amounts(podLevel.getRequests())),
                amounts(pod.getOverhead()));
    }

    /** All amounts. */
    public static Amounts amounts(
            @Nullable Map<String, io.fabric8.kubernetes.api.model.Quantity> resources) {
        return Amounts.of(amounts(resources, resource -> true));
    }

    /** The amounts of those resources that are wanted. */
    public static Map<String, Quantity> amounts(
            @Nullable Map<String, io.fabric8.kubernetes.api.model.Quantity> resources,
            Predicate<String> wanted) {
        var amounts = new HashMap<String, Quantity>();
        if (resources != null) {
            resources.forEach((name, amount) -> {
                if (wanted.test(name)) {
                    amounts.put(name, amount(amount));
                }
            });
        }
        return amounts;
    }

    /**
     * An amount with our own arithmetic: the client's takes fewer than Kubernetes.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Quantity amount(io.fabric8.kubernetes.api.model.Quantity found) {
        return Quantity.parse(found.toString());
    }
}

package io.gpusharing.webhook.injection;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * How the container that meters has to be for one pod, so that whatever the pod passed without it,
 * it passes with it.
 *
 * @param suffix appended to our names where the pod uses them itself; mostly empty
 * @param rootPod the pod says user 0 for all containers: ours must name another one
 * @param resources what it asks for
 */
record SidecarForm(String suffix, boolean rootPod, Resources resources) {

    /** What the container asks for itself. */
    enum Resources {
        /** As configured. */
        Own,
        /** Requests equal to limits, or a Guaranteed pod would no longer be one. */
        Guaranteed,
        /** Nothing: the pod has resources for all of its containers together. */
        PodLevel
    }

    /** The form for a pod, of which {@code own} is already ours. */
    static SidecarForm of(PodView pod, String suffix, String own) {
        Long user = pod.spec().runAsUser();
        return new SidecarForm(suffix, user != null && user == 0, resources(pod, own));
    }

    private static Resources resources(PodView pod, String own) {
        if (pod.spec().podLevelResources()) {
            return Resources.PodLevel;
        }
        Stream<Container> theirs =
                pod.allContainers().filter(container -> !container.name().equals(own));
        return theirs.allMatch(SidecarForm::isGuaranteed) ? Resources.Guaranteed : Resources.Own;
    }

    private static boolean isGuaranteed(Container container) {
        return Stream.of("cpu", "memory").allMatch(name -> equal(container, name));
    }

    private static boolean equal(Container container, String resource) {
        Quantity limit = container.limits().get(resource);
        Quantity request = container.requests().get(resource);
        return limit != null
                && !limit.isZero()
                && Objects.requireNonNullElse(request, limit).equals(limit);
    }

    /** Requests and limits in this form. */
    List<Map<String, String>> amounts(SidecarProperties properties) {
        return switch (resources) {
            case Own -> List.of(properties.requests(), properties.limits());
            case Guaranteed -> List.of(properties.limits(), properties.limits());
            case PodLevel -> List.of();
        };
    }
}

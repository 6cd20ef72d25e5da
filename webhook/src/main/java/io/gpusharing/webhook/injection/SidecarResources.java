package io.gpusharing.webhook.injection;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.standing.ContainerLimits;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What the container that meters may ask for in one pod, so that whatever the pod passed without
 * it, it passes with it: quotas, LimitRanges, its quality of service.
 */
final class SidecarResources {

    private static final List<String> NAMES = List.of("cpu", "memory");

    /** The answer. Exactly one of the three. */
    sealed interface Fit {}

    /** It asks for this much. */
    record Amounts(Map<String, String> requests, Map<String, String> limits) implements Fit {}

    /** It asks for nothing: the pod has resources for all of its containers together. */
    record PodLevel() implements Fit {}

    /**
     * There is no amount that it can run with and the namespace allows.
     *
     * @param reason which LimitRange does not allow it
     */
    record DoesNotFit(String reason) implements Fit {}

    private final SidecarProperties properties;

    SidecarResources(SidecarProperties properties) {
        this.properties = properties;
    }

    /**
     * @param own name of a container of the pod that is ours already; empty if there is none
     */
    Fit in(PodView pod, String own, ContainerLimits demanded) {
        if (pod.spec().podLevelResources()) {
            return new PodLevel();
        }
        var theirs = new ArrayList<Container>();
        boolean guaranteed = true;
        for (Container container : pod.allContainers()) {
            if (!container.name().equals(own)) {
                theirs.add(container);
                guaranteed &= isGuaranteed(container);
            }
        }
        if (demanded.equals(ContainerLimits.NONE)) {
            return new Amounts(
                    guaranteed ? properties.limits() : properties.requests(), properties.limits());
        }
        var requests = new TreeMap<>(properties.requests());
        var limits = new TreeMap<>(properties.limits());
        for (String name : NAMES) {
            Optional<String> reason = fit(name, requests, limits, demanded, guaranteed);
            if (reason.isEmpty()) {
                reason = overPodMax(name, limits, theirs, demanded);
            }
            if (reason.isPresent()) {
                return new DoesNotFit(reason.get());
            }
        }
        return new Amounts(requests, limits);
    }

    private static Optional<String> fit(
            String name,
            Map<String, String> requests,
            Map<String, String> limits,
            ContainerLimits demanded,
            boolean guaranteed) {
        Quantity request = Quantity.parse(requests.getOrDefault(name, "0"));
        Quantity limit = Quantity.parse(limits.getOrDefault(name, request.text()));
        Quantity min = demanded.min().get(name);
        Quantity max = demanded.max().get(name);
        if (max != null && isLess(max, request)) {
            return Optional.of("a LimitRange allows containers only %s of %s".formatted(max, name));
        }
        if (max != null && isLess(max, limit)) {
            limit = max;
        }
        if (min != null && isLess(request, min)) {
            request = min;
        }
        if (isLess(limit, request)) {
            limit = request;
        }
        if (guaranteed || demanded.bounded().containsKey(name)) {
            request = limit;
        }
        requests.put(name, request.text());
        limits.put(name, limit.text());
        return Optional.empty();
    }

    private static Optional<String> overPodMax(
            String name,
            Map<String, String> limits,
            List<Container> theirs,
            ContainerLimits demanded) {
        Quantity max = demanded.podMax().get(name);
        if (max == null) {
            return Optional.empty();
        }
        BigDecimal sum =
                Stream.concat(
                                theirs.stream()
                                        .map(container -> container.limits().get(name))
                                        .filter(Objects::nonNull),
                                Stream.of(Quantity.parse(limits.getOrDefault(name, "0"))))
                        .map(Quantity::value)
                        .reduce(BigDecimal.ZERO, BigDecimal::add);
        return sum.compareTo(max.value()) > 0
                ? Optional.of("a LimitRange allows pods only %s of %s".formatted(max, name))
                : Optional.empty();
    }

    private static boolean isLess(Quantity one, Quantity two) {
        return one.value().compareTo(two.value()) < 0;
    }

    private static boolean isGuaranteed(Container container) {
        return equal(container, "cpu") && equal(container, "memory");
    }

    private static boolean equal(Container container, String resource) {
        Quantity limit = container.limits().get(resource);
        Quantity request = container.requests().get(resource);
        return limit != null
                && !limit.isZero()
                && Objects.requireNonNullElse(request, limit).equals(limit);
    }
}

package io.gpusharing.webhook.injection;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.cluster.ContainerLimits;
import io.gpusharing.webhook.cluster.Demands;
import io.gpusharing.webhook.cluster.Quota;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the container that meters may ask for in one pod, so that whatever the pod passed without
 * it, it passes with it: quotas, LimitRanges, its quality of service.
 */
final class SidecarResources {

    private static final List<String> NAMES = List.of("cpu", "memory");

    /** The answer. Exactly one of the two. */
    sealed interface Fit {}

    /** It asks for this much. */
    record Amounts(Map<String, String> requests, Map<String, String> limits) implements Fit {

        /** It names no amount. */
        static final Amounts NONE = new Amounts(Map.of(), Map.of());
    }

    /**
     * There is no amount that it can run with and the namespace allows.
     *
     * @param reason which LimitRange or quota does not allow it, or may not
     */
    record DoesNotFit(String reason) implements Fit {}

    /**
     * Something that the pod may still have.
     *
     * @param ofLimits whether limits count; else requests
     * @param amount of the resource, not negative
     * @param reason what says so
     */
    private record Headroom(boolean ofLimits, BigDecimal amount, String reason) {}

    private final SidecarProperties properties;

    SidecarResources(SidecarProperties properties) {
        this.properties = properties;
    }

    /**
     * @param priorityClass that the pod will have; null if none
     */
    Fit in(PodView pod, Demands demanded, @Nullable String priorityClass) {
        boolean podLevel = pod.spec().podLevelResources();
        boolean guaranteed = pod.allContainers().stream().allMatch(SidecarResources::isGuaranteed);
        if (demanded.equals(Demands.NONE)) {
            return podLevel
                    ? Amounts.NONE
                    : new Amounts(
                            guaranteed ? properties.limits() : properties.requests(),
                            properties.limits());
        }
        if (!demanded.unread().isEmpty()) {
            return new DoesNotFit("%s cannot be read".formatted(demanded.unread().getFirst()));
        }
        Optional<String> device =
                devices(demanded.limits()).filter(demanded.limits()::demand).findFirst();
        if (device.isPresent()) {
            return new DoesNotFit(
                    "a LimitRange demands %s of every container".formatted(device.get()));
        }
        if (podLevel) {
            // The pod has resources for all of its containers together.
            Map<String, String> nothing = noDevices(demanded.limits());
            return new Amounts(nothing, nothing);
        }
        var usage = new PodUsage(pod);
        List<Quota> counting = new ArrayList<>();
        for (Quota quota : demanded.quotas()) {
            if (quota.counts(usage.traits(priorityClass))) {
                counting.add(quota);
            } else if (quota.counts(usage.burstable(priorityClass)) && refusesNewcomer(quota)) {
                return new DoesNotFit(
                        "quota %s would count the pod because of it".formatted(quota.name()));
            }
        }
        var requests = new TreeMap<>(properties.requests());
        var limits = new TreeMap<>(properties.limits());
        for (String name : NAMES) {
            Optional<String> reason =
                    fit(
                            name,
                            requests,
                            limits,
                            demanded.limits(),
                            headrooms(name, usage, demanded.limits(), counting),
                            guaranteed);
            if (reason.isPresent()) {
                return new DoesNotFit(reason.get());
            }
        }
        requests.putAll(noDevices(demanded.limits()));
        limits.putAll(noDevices(demanded.limits()));
        return new Amounts(requests, limits);
    }

    /**
     * GPUs and other extended resources that a LimitRange gives to containers that name none of
     * them, or demands of all. Ours has no use for any: it would take them from the pod's team.
     */
    private static Stream<String> devices(ContainerLimits demanded) {
        return Stream.of(
                        demanded.defaulted().stream(),
                        demanded.min().keySet().stream(),
                        demanded.bounded().keySet().stream())
                .flatMap(Function.identity())
                .filter(name -> name.indexOf('/') >= 0)
                .sorted()
                .distinct();
    }

    /** LimitRanger, which runs again after us, keeps what is named. */
    private static Map<String, String> noDevices(ContainerLimits demanded) {
        return devices(demanded).collect(Collectors.toMap(name -> name, _ -> "0"));
    }

    /**
     * Whether a quota that counts the pod only because of ours would refuse it for what is not
     * ours: it demands an amount of every container, and the pod's own ask for none.
     */
    private static boolean refusesNewcomer(Quota quota) {
        return quota.left().entrySet().stream()
                .anyMatch(it ->
                        !it.getKey().equals("pods") || it.getValue().compareTo(BigDecimal.ONE) < 0);
    }

    private static List<Headroom> headrooms(
            String name, PodUsage usage, ContainerLimits demanded, List<Quota> quotas) {
        var headrooms = new ArrayList<Headroom>();
        Quantity podMax = demanded.podMax().get(name);
        if (podMax != null) {
            add(
                    headrooms,
                    true,
                    podMax.value().subtract(usage.limits(name)),
                    "a LimitRange allows pods only %s of %s".formatted(podMax, name));
        }
        for (Quota quota : quotas) {
            BigDecimal requests = quota.left().get("requests." + name);
            if (requests != null) {
                add(
                        headrooms,
                        false,
                        requests.subtract(usage.requestsWithOverhead(name)),
                        "quota %s leaves it too little of requests.%s"
                                .formatted(quota.name(), name));
            }
            BigDecimal limits = quota.left().get("limits." + name);
            if (limits != null) {
                add(
                        headrooms,
                        true,
                        limits.subtract(usage.limitsWithOverhead(name)),
                        "quota %s leaves it too little of limits.%s".formatted(quota.name(), name));
            }
        }
        return headrooms;
    }

    /** What refuses the pod even without ours is no reason to leave ours out. */
    private static void add(
            List<Headroom> headrooms, boolean ofLimits, BigDecimal amount, String reason) {
        if (amount.signum() >= 0) {
            headrooms.add(new Headroom(ofLimits, amount, reason));
        }
    }

    private static Optional<String> fit(
            String name,
            Map<String, String> requests,
            Map<String, String> limits,
            ContainerLimits demanded,
            List<Headroom> headrooms,
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
        boolean equal = guaranteed || demanded.bounded().containsKey(name);
        for (Headroom headroom : headrooms) {
            if (headroom.amount().compareTo(request.value()) < 0) {
                return Optional.of(headroom.reason());
            }
            if ((headroom.ofLimits() || equal) && headroom.amount().compareTo(limit.value()) < 0) {
                limit = atMost(name, headroom.amount());
            }
        }
        if (equal) {
            request = limit;
        }
        requests.put(name, request.text());
        limits.put(name, limit.text());
        return Optional.empty();
    }

    /** In the units that people write: thousandths of a processor, bytes. */
    private static Quantity atMost(String name, BigDecimal amount) {
        return name.equals("cpu")
                ? Quantity.parse(
                        amount.movePointRight(3).setScale(0, RoundingMode.FLOOR).toPlainString()
                                + "m")
                : Quantity.parse(amount.setScale(0, RoundingMode.FLOOR).toPlainString());
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

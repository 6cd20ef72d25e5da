package io.gpusharing.request;

import io.gpusharing.request.ContainerRequest.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What a pod's containers ask for, in the pod's own order: app containers first, then init
 * containers. Ephemeral containers cannot ask for resources and do not appear.
 */
public record PodRequest(List<ContainerRequest> containers) {

    public PodRequest {
        containers = List.copyOf(containers);
    }

    /** Whether any container names such a resource with an amount other than zero. */
    public boolean asksFor(Predicate<String> resource) {
        for (ContainerRequest container : containers) {
            if (asks(container.limits(), resource) || asks(container.requests(), resource)) {
                return true;
            }
        }
        return false;
    }

    /**
     * What the pod holds while it runs; see {@link #effective(Function, Object, BinaryOperator,
     * BinaryOperator)}.
     *
     * @param share what one container holds
     */
    public GpuShare effective(Function<ContainerRequest, GpuShare> share) {
        return effective(share, GpuShare.NONE, GpuShare::plus, GpuShare::max);
    }

    /**
     * What the pod holds of something while it runs: the larger of all app containers together with
     * the native sidecars, and of each init step with the sidecars that have started by then. This
     * is how Kubernetes itself adds up requests (k8s.io/component-helpers, resource).
     *
     * @param held what one container holds
     */
    public <T> T effective(
            Function<ContainerRequest, T> held,
            T none,
            BinaryOperator<T> plus,
            BinaryOperator<T> max) {
        T running = none;
        T sidecars = none;
        T peak = none;
        for (ContainerRequest container : containers) {
            T own = held.apply(container);
            switch (container.kind()) {
                case App -> running = plus.apply(running, own);
                case NativeSidecar -> {
                    sidecars = plus.apply(sidecars, own);
                    peak = max.apply(peak, sidecars);
                }
                case Init -> peak = max.apply(peak, plus.apply(sidecars, own));
            }
        }
        return max.apply(peak, plus.apply(running, sidecars));
    }

    /**
     * The amounts as one line that can be compared later, in the pod's order: {@code
     * cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15}. Amounts are written as
     * plain whole numbers, since the API server rewrites {@code 1e3} as {@code 1k}; zero asks for
     * nothing and is left out.
     *
     * @param resource which resources count
     */
    public String stamp(Predicate<String> resource) {
        var line = new StringJoiner(",");
        for (ContainerRequest container : containers) {
            var names = new TreeSet<>(container.limits().keySet());
            names.addAll(container.requests().keySet());
            names.removeIf(resource.negate());
            for (String name : names) {
                container
                        .amount(name)
                        .filter(amount -> !amount.isZero())
                        .ifPresent(amount ->
                                line.add(container.name() + "/" + name + "=" + plain(amount)));
            }
        }
        return line.toString();
    }

    /**
     * What a stamp says of the pod: its containers in their order, as app containers.
     *
     * @return nothing if it is not one
     */
    public static Optional<PodRequest> ofStamp(String stamp) {
        var containers = new LinkedHashMap<String, Map<String, Quantity>>();
        try {
            for (String entry : stamp.split(",", -1)) {
                int name = entry.indexOf('/');
                int amount = entry.lastIndexOf('=');
                containers
                        .computeIfAbsent(entry.substring(0, name), key -> new LinkedHashMap<>())
                        .put(
                                entry.substring(name + 1, amount),
                                Quantity.parse(entry.substring(amount + 1)));
            }
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return Optional.empty();
        }
        return Optional.of(
                new PodRequest(
                        containers.entrySet().stream()
                                .map(it ->
                                        new ContainerRequest(
                                                it.getKey(), Kind.App, it.getValue(), Map.of()))
                                .toList()));
    }

    private static String plain(Quantity amount) {
        OptionalLong whole = amount.wholeNumber();
        return whole.isPresent() ? Long.toString(whole.getAsLong()) : amount.text();
    }

    private static boolean asks(Map<String, Quantity> amounts, Predicate<String> resource) {
        for (Map.Entry<String, Quantity> entry : amounts.entrySet()) {
            if (resource.test(entry.getKey()) && !entry.getValue().isZero()) {
                return true;
            }
        }
        return false;
    }
}

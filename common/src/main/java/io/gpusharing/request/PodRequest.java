package io.gpusharing.request;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.StringJoiner;
import java.util.TreeSet;
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
     * What the pod holds while it runs: the larger of all app containers together with the native
     * sidecars, and of each init step with the sidecars that have started by then. This is how
     * Kubernetes itself adds up requests (k8s.io/component-helpers, resource).
     *
     * @param share what one container holds
     */
    public GpuShare effective(Function<ContainerRequest, GpuShare> share) {
        GpuShare running = GpuShare.NONE;
        GpuShare sidecars = GpuShare.NONE;
        GpuShare peak = GpuShare.NONE;
        for (ContainerRequest container : containers) {
            GpuShare own = share.apply(container);
            switch (container.kind()) {
                case App -> running = running.plus(own);
                case NativeSidecar -> {
                    sidecars = sidecars.plus(own);
                    peak = peak.max(sidecars);
                }
                case Init -> peak = peak.max(sidecars.plus(own));
            }
        }
        return peak.max(running.plus(sidecars));
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

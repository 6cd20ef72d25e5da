package io.gpusharing.sharing;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/**
 * Amounts of resources by name, in the base unit of each: cores, bytes, pieces. What is not named
 * is none. May be negative where it is a difference.
 */
public record Amounts(Map<String, BigDecimal> byResource) {

    public static final Amounts NONE = new Amounts(Map.of());

    /** Every pod takes one of its node's pod slots. */
    private static final Amounts POD_SLOT = new Amounts(Map.of("pods", BigDecimal.ONE));

    /** More units than any node has. */
    static final long MANY = 1_000_000_000;

    private static final BigDecimal MOST = BigDecimal.valueOf(MANY);

    public Amounts {
        byResource = Map.copyOf(byResource);
    }

    /** Amounts as Kubernetes writes them. */
    public static Amounts of(Map<String, Quantity> quantities) {
        var amounts = new TreeMap<String, BigDecimal>();
        quantities.forEach((name, quantity) -> amounts.put(name, quantity.value()));
        return new Amounts(amounts);
    }

    /**
     * What a pod takes of its node, as kube-scheduler counts it (k8s.io/component-helpers,
     * resource).
     *
     * @param podLevel requests of the pod itself, which stand for those of its containers
     * @param overhead what its runtime class adds
     */
    public static Amounts ofPod(PodRequest containers, Amounts podLevel, Amounts overhead) {
        return containers
                .effective(Amounts::of, NONE, Amounts::plus, Amounts::max)
                .overriddenBy(podLevel)
                .plus(overhead)
                .plus(POD_SLOT);
    }

    /** A limit without a request is one. */
    private static Amounts of(ContainerRequest container) {
        return of(container.limits()).overriddenBy(of(container.requests()));
    }

    public Amounts plus(Amounts other) {
        return merged(other, BigDecimal::add);
    }

    public Amounts minus(Amounts other) {
        var negative = new TreeMap<String, BigDecimal>();
        other.byResource.forEach((name, amount) -> negative.put(name, amount.negate()));
        return plus(new Amounts(negative));
    }

    /** The larger of each. */
    Amounts max(Amounts other) {
        return merged(other, BigDecimal::max);
    }

    /** These amounts, with those that {@code other} names taken from there. */
    public Amounts overriddenBy(Amounts other) {
        return merged(other, (mine, others) -> others);
    }

    public BigDecimal of(String resource) {
        return byResource.getOrDefault(resource, BigDecimal.ZERO);
    }

    /**
     * Whole units of a resource, never negative. Where somebody has written more than {@link #MANY}
     * they are as many: sums must not overflow.
     */
    public long units(String resource) {
        return units(of(resource));
    }

    static long units(BigDecimal amount) {
        return amount.min(MOST).max(BigDecimal.ZERO).longValue();
    }

    /** Whether everything that is asked for here is free there; nothing else matters. */
    public boolean fitInto(Amounts free) {
        // Asked of thousands of nodes for each pod that waits.
        for (Map.Entry<String, BigDecimal> wanted : byResource.entrySet()) {
            BigDecimal amount = wanted.getValue();
            if (amount.signum() > 0 && free.of(wanted.getKey()).compareTo(amount) < 0) {
                return false;
            }
        }
        return true;
    }

    private Amounts merged(Amounts other, BinaryOperator<BigDecimal> both) {
        var merged = new TreeMap<>(byResource);
        other.byResource.forEach((name, amount) -> merged.merge(name, amount, both));
        return new Amounts(merged);
    }
}

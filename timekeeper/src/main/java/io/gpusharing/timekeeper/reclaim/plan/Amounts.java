package io.gpusharing.timekeeper.reclaim.plan;

import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;

/**
 * Amounts of resources by name, in the base unit of each: cores, bytes, pieces. What is not named
 * is none. May be negative where it is a difference.
 */
public record Amounts(Map<String, BigDecimal> byResource) {

    public static final Amounts NONE = new Amounts(Map.of());

    /** Every pod takes one of its node's pod slots. */
    static final String PODS = "pods";

    public Amounts {
        byResource = Map.copyOf(byResource);
    }

    Amounts plus(Amounts other) {
        return merged(other, BigDecimal.ONE);
    }

    Amounts minus(Amounts other) {
        return merged(other, BigDecimal.ONE.negate());
    }

    /** The larger of each. */
    Amounts max(Amounts other) {
        var larger = new TreeMap<>(byResource);
        other.byResource.forEach((name, amount) -> larger.merge(name, amount, BigDecimal::max));
        return new Amounts(larger);
    }

    /** These amounts, with those that {@code other} names taken from there. */
    Amounts overriddenBy(Amounts other) {
        var overridden = new TreeMap<>(byResource);
        overridden.putAll(other.byResource);
        return new Amounts(overridden);
    }

    public BigDecimal of(String resource) {
        return byResource.getOrDefault(resource, BigDecimal.ZERO);
    }

    /**
     * Whether everything that is asked for here is free there; what is not asked for is not looked
     * at.
     */
    boolean fitInto(Amounts free) {
        return byResource.entrySet().stream()
                .filter(entry -> entry.getValue().signum() > 0)
                .allMatch(entry -> free.of(entry.getKey()).compareTo(entry.getValue()) >= 0);
    }

    private Amounts merged(Amounts other, BigDecimal sign) {
        var merged = new TreeMap<>(byResource);
        other.byResource.forEach(
                (name, amount) -> merged.merge(name, amount.multiply(sign), BigDecimal::add));
        return new Amounts(merged);
    }
}

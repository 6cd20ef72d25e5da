package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the open allocations of one budget add with every second, by namespace: the time of pods
 * that run, from their last posting on. {@code PodCharger} writes it down later. It follows the
 * ledger also while the budget does not exist, so that a budget that is made finds it.
 */
public final class OpenRates {

    private final TreeMap<String, Rate> byNamespace = new TreeMap<>();
    private Instant latest = Instant.EPOCH;

    public void opened(PodAllocation allocation) {
        Instant since = allocation.postedUntil();
        add(allocation.namespace(), allocation.rate(), since);
        latest = since.isAfter(latest) ? since : latest;
    }

    public void closed(PodAllocation allocation) {
        add(allocation.namespace(), -allocation.rate(), allocation.postedUntil());
    }

    /** Where the allocation is posted that is posted furthest. */
    Instant latest() {
        return latest;
    }

    /** The ledger is read anew. */
    public void clear() {
        byNamespace.clear();
        latest = Instant.EPOCH;
    }

    public boolean isEmpty() {
        return byNamespace.isEmpty();
    }

    Set<String> namespaces() {
        return byNamespace.keySet();
    }

    /** Micro-GPUs that a namespace holds. */
    long rate(String namespace) {
        Rate rate = byNamespace.get(namespace);
        return rate == null ? 0 : rate.micros;
    }

    /** What a namespace has used since its allocations were posted. */
    GpuTime used(String namespace, Instant asOf) {
        Rate rate = byNamespace.get(namespace);
        return rate == null
                ? GpuTime.ZERO
                : GpuTime.saturated(product(rate.micros, asOf).subtract(rate.weighted));
    }

    private void add(String namespace, long micros, Instant since) {
        Rate before = byNamespace.getOrDefault(namespace, Rate.NONE);
        var after =
                new Rate(
                        Math.addExact(before.micros, micros),
                        before.weighted.add(product(micros, since)));
        if (after.equals(Rate.NONE)) {
            byNamespace.remove(namespace);
        } else {
            byNamespace.put(namespace, after);
        }
    }

    private static BigInteger product(long micros, Instant at) {
        return BigInteger.valueOf(micros).multiply(BigInteger.valueOf(at.getEpochSecond()));
    }

    /**
     * Sums over allocations.
     *
     * @param weighted sum of rate × second since which it runs; ten thousand pods leave a long
     */
    private record Rate(long micros, BigInteger weighted) {

        static final Rate NONE = new Rate(0, BigInteger.ZERO);
    }
}

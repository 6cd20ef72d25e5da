package io.gpusharing.benchmarks.timekeeper;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** Durations in nanoseconds, given in milliseconds. Not for several threads. */
final class Latencies {

    private long[] values = new long[64];
    private int size;

    void add(long nanos) {
        if (size == values.length) {
            values = Arrays.copyOf(values, size * 2);
        }
        values[size++] = nanos;
    }

    void addAll(Latencies other) {
        for (int i = 0; i < other.size; i++) {
            add(other.values[i]);
        }
    }

    int count() {
        return size;
    }

    Map<String, Double> milliseconds() {
        long[] sorted = Arrays.copyOf(values, size);
        Arrays.sort(sorted);
        var percentiles = new TreeMap<String, Double>();
        percentiles.put("p50", at(sorted, 0.50));
        percentiles.put("p90", at(sorted, 0.90));
        percentiles.put("p99", at(sorted, 0.99));
        percentiles.put("p999", at(sorted, 0.999));
        percentiles.put("max", at(sorted, 1));
        return percentiles;
    }

    private static double at(long[] sorted, double part) {
        if (sorted.length == 0) {
            return 0;
        }
        int index = (int) Math.ceil(part * sorted.length) - 1;
        return Math.round(sorted[Math.max(0, index)] / 1e4) / 100.0;
    }
}

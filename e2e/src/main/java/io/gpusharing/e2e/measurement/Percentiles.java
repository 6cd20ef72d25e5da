package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;

/** Median and 99th percentile of what was measured, in milliseconds. */
final class Percentiles {

    private Percentiles() {}

    /** Of a hundred or fewer the 99th is the worst. */
    static void write(ObjectNode target, List<Duration> all) {
        List<Duration> sorted = all.stream().sorted().toList();
        target.put("p50_ms", sorted.get(sorted.size() / 2).toMillis());
        target.put("p99_ms", sorted.get((int) Math.ceil(sorted.size() * 0.99) - 1).toMillis());
    }
}

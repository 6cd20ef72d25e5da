package io.gpusharing.scheduler.explaining;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** How often the same was said of nodes or pods. */
final class MostFrequent {

    /** Of reasons: the rest says little. */
    private static final int MOST_REASONS = 10;

    private MostFrequent() {}

    /** How often each text is there: the most frequent first, of equals the first by alphabet. */
    static Map<String, Integer> of(Collection<String> texts) {
        var counts = new LinkedHashMap<String, Integer>();
        texts.stream().collect(groupingBy(it -> it, TreeMap::new, counting())).entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(MOST_REASONS)
                .forEach(it -> counts.put(it.getKey(), Math.toIntExact(it.getValue())));
        return counts;
    }
}

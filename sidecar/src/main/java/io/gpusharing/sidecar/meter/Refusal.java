package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.NvmlReturn;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Words for an answer of NVML, made once each: a refusal that lasts is asked for every tick. */
final class Refusal {

    private static final Map<String, Map<NvmlReturn, String>> WORDS = new ConcurrentHashMap<>();

    private Refusal() {}

    static String of(String what, NvmlReturn answer) {
        Map<NvmlReturn, String> words =
                WORDS.computeIfAbsent(what, key -> new ConcurrentHashMap<>());
        String known = words.get(answer);
        if (known == null) {
            known = "NVML answered " + answer + " for " + what;
            words.put(answer, known);
        }
        return known;
    }
}

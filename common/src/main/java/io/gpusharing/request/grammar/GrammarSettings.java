package io.gpusharing.request.grammar;

import java.util.List;
import java.util.Map;

/**
 * What a site says about the resources that its grammars read.
 *
 * @param custom extended resources of the site's own
 * @param metagpuUnits see {@link MetagpuGrammar#MetagpuGrammar(Map)}
 * @param defaultMemoryPerGpu see {@link VcudaGrammar#VcudaGrammar(long)}
 * @param hamiDefaultGpus see {@link HamiGrammar#HamiGrammar(long)}
 */
public record GrammarSettings(
        List<CustomResource> custom,
        Map<String, Integer> metagpuUnits,
        long defaultMemoryPerGpu,
        long hamiDefaultGpus) {

    public GrammarSettings {
        custom = List.copyOf(custom);
        metagpuUnits = Map.copyOf(metagpuUnits);
    }

    /** Everything else as the providers have it. */
    public GrammarSettings(List<CustomResource> custom, Map<String, Integer> metagpuUnits) {
        this(custom, metagpuUnits, 0, 1);
    }
}

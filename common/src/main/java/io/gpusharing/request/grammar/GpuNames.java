package io.gpusharing.request.grammar;

import io.gpusharing.request.RequestGrammar;
import java.util.List;
import java.util.Set;

/** Which extended resources are GPUs or parts of them, whatever a site has configured. */
public final class GpuNames {

    /** Of providers that we have no grammar for. */
    private static final Set<String> OTHERS =
            Set.of("amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe");

    private static final List<RequestGrammar> KNOWN = RequestGrammars.known();

    private static final RequestGrammar NVIDIAS = new NvidiaGrammar();

    private GpuNames() {}

    /** Whether a pod that asks for the resource gets a GPU, or a part of one. */
    public static boolean isGpu(String resource) {
        // Most of what a node has is cpu, memory and their like.
        if (resource.indexOf('/') < 0) {
            return false;
        }
        // Gpushare describes its nodes by it and hands out nothing for it.
        return !resource.equals(AliyunGrammar.COUNT)
                && (OTHERS.contains(resource) || !readers(resource).isEmpty());
    }

    /**
     * Whether it is one of NVIDIA's own device plugin, which needs nothing of ours: pods that ask
     * for no other GPU must not depend on us.
     */
    public static boolean isOfNvidiasPlugin(String resource) {
        return NVIDIAS.reads(resource);
    }

    /** Names of all grammars that read it, of which a site may have named none. */
    static List<String> readers(String resource) {
        return KNOWN.stream()
                .filter(grammar -> grammar.reads(resource))
                .map(RequestGrammar::name)
                .toList();
    }
}

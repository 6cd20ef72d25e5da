package io.gpusharing.timekeeper.reclaim.plan;

import io.fabric8.kubernetes.api.model.Container;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.request.HamiGrammar;
import io.gpusharing.request.RequestGrammars;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who holds which physical GPU, by the annotations of whatever provider writes them:
 * gpu-admission's, and HAMi's where the site reads requests as HAMi does.
 */
public final class Placement {

    private final boolean hami;

    public Placement(RequestGrammars grammars) {
        this.hami = grammars.reads(HamiGrammar.MEMORY);
    }

    /** What a node offers, completed by what its provider counts elsewhere. */
    public Amounts offered(Amounts allocatable, Map<String, String> annotations) {
        return hami && annotations.containsKey(HamiGrammar.NODE_ANNOTATION)
                ? allocatable.plus(HamiPlacement.PARTS)
                : allocatable;
    }

    /** All GPUs of a node; null if that is unknown. */
    @Nullable
    public GpuLayout layout(Amounts allocatable, Map<String, String> annotations) {
        GpuLayout vcuda = VcudaPlacement.layout(allocatable);
        return vcuda == null && hami ? HamiPlacement.layout(annotations) : vcuda;
    }

    /** What each container asks of physical GPUs. */
    public List<GpuAsk> asks(List<Container> containers) {
        return Stream.concat(
                        VcudaPlacement.asks(containers).stream(),
                        hami ? HamiPlacement.asks(containers).stream() : Stream.of())
                .toList();
    }

    /** What the pod holds of which GPU; null if not all of it is known. */
    @Nullable
    public List<GpuHold> holds(List<Container> containers, Map<String, String> annotations) {
        List<GpuHold> vcuda = VcudaPlacement.holds(containers, annotations);
        return vcuda != null && vcuda.isEmpty() && hami
                ? HamiPlacement.holds(containers, annotations)
                : vcuda;
    }

    /** Why a pod's place cannot be judged from here, in words; null if it can. */
    @Nullable
    public String unjudged(List<Container> initContainers, Map<String, String> annotations) {
        return hami ? HamiPlacement.unjudged(initContainers, annotations) : null;
    }
}

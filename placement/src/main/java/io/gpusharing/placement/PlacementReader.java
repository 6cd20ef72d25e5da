package io.gpusharing.placement;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.HamiGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads what nodes have and what pods hold of physical GPUs, by the resources and annotations of
 * whatever provider hands them out: gpu-admission, and HAMi where the site reads requests as HAMi
 * does.
 */
public final class PlacementReader {

    private final boolean hami;
    private final Function<String, List<HamiGpu>> json;

    /**
     * @param json reads the JSON list by which HAMi registers a node's GPUs; throws an {@link
     *     IllegalArgumentException} if it cannot
     */
    public PlacementReader(RequestGrammars grammars, Function<String, List<HamiGpu>> json) {
        this.hami = grammars.reads(HamiGrammar.MEMORY);
        this.json = json;
    }

    /** Whether an annotation of a pod says anything here. */
    public static boolean readsOfPod(String annotation) {
        return VcudaPlacement.reads(annotation) || HamiPlacement.readsOfPod(annotation);
    }

    /** Whether an annotation of a node says anything here. */
    public static boolean readsOfNode(String annotation) {
        return HamiPlacement.readsOfNode(annotation);
    }

    /** What a node has while it is empty. */
    public FreeCapacity emptyNode(Amounts allocatable, Map<String, String> annotations) {
        GpuLayout vcuda = VcudaPlacement.layout(allocatable);
        return new FreeCapacity(
                hami && annotations.containsKey(NodeFacts.HAMI_REGISTER)
                        ? allocatable.plus(HamiPlacement.PARTS)
                        : allocatable,
                vcuda == null && hami ? HamiPlacement.layout(annotations, json) : vcuda);
    }

    /** What each container asks of physical GPUs. */
    public List<GpuAsk> asks(PodRequest pod) {
        List<ContainerRequest> containers = app(pod);
        return Stream.concat(
                        containers.stream().map(ProviderAsk::vcudaBlocks),
                        hami ? containers.stream().map(HamiPlacement::ask) : Stream.of())
                .filter(ask -> ask.count() > 0)
                .toList();
    }

    /** What the pod holds of which GPU; null if not all of it is known. */
    public @Nullable List<GpuHold> holds(PodRequest pod, Map<String, String> annotations) {
        List<GpuHold> vcuda = VcudaPlacement.holds(app(pod), annotations);
        return vcuda != null && vcuda.isEmpty() && hami
                ? HamiPlacement.holds(app(pod), annotations)
                : vcuda;
    }

    /** Why a pod's place cannot be judged from here, in words; null if it can. */
    public @Nullable String unjudged(PodRequest pod, Map<String, String> annotations) {
        return hami
                ? HamiPlacement.unjudged(
                        pod.containers().stream().filter(it -> it.kind() != Kind.App).toList(),
                        annotations)
                : null;
    }

    private static List<ContainerRequest> app(PodRequest pod) {
        return pod.containers().stream().filter(it -> it.kind() == Kind.App).toList();
    }
}

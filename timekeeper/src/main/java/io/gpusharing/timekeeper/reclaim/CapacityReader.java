package io.gpusharing.timekeeper.reclaim;

import static io.gpusharing.kubernetes.ResourceReader.amounts;
import static io.gpusharing.kubernetes.ResourceReader.requests;
import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.placement.Amounts;
import io.gpusharing.placement.HamiGpu;
import io.gpusharing.placement.PlacementReader;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.placement.PodHold;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.reclaim.snapshot.NodeView;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Reads what nodes have, what pods need of them and what pods hold of them. */
final class CapacityReader {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final PlacementReader placement;

    CapacityReader(RequestGrammars grammars) {
        this.placement = new PlacementReader(grammars, CapacityReader::hamiGpus);
    }

    private static List<HamiGpu> hamiGpus(String json) {
        try {
            return List.of(JSON.readValue(json, HamiGpu[].class));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(e);
        }
    }

    NodeView node(Node node) {
        var meta = node.getMetadata();
        var spec = node.getSpec();
        return new NodeView(
                meta.getName(),
                requireNonNullElse(meta.getLabels(), Map.of()),
                spec == null ? List.of() : spec.getTaints(),
                spec != null && Boolean.TRUE.equals(spec.getUnschedulable()),
                placement.emptyNode(
                        node.getStatus() == null
                                ? Amounts.NONE
                                : amounts(node.getStatus().getAllocatable()),
                        requireNonNullElse(meta.getAnnotations(), Map.of())));
    }

    PodAsk ask(PodSpec pod) {
        PodRequest request = request(pod);
        return new PodAsk(requests(pod, request), placement.asks(request));
    }

    /**
     * @param hasGpu whether it asks for GPUs
     */
    PodHold hold(Pod pod, boolean hasGpu) {
        PodRequest request = request(pod.getSpec());
        return new PodHold(
                requests(pod.getSpec(), request),
                // A pod that is only nominated holds no GPU yet, just reserved capacity.
                !hasGpu || pod.getSpec().getNodeName() == null
                        ? List.of()
                        : placement.holds(request, annotations(pod)));
    }

    /** Why a pod's place cannot be judged by its GPUs, in words; null if it can. */
    @Nullable String unjudged(Pod pod) {
        return placement.unjudged(request(pod.getSpec()), annotations(pod));
    }

    private static PodRequest request(PodSpec pod) {
        return ResourceReader.request(pod, resource -> true);
    }

    private static Map<String, String> annotations(Pod pod) {
        return requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    }
}

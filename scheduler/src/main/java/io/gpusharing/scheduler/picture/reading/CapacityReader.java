package io.gpusharing.scheduler.picture.reading;

import static io.gpusharing.kubernetes.ResourceReader.amounts;
import static io.gpusharing.kubernetes.ResourceReader.requests;
import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.placement.HamiGpu;
import io.gpusharing.placement.PlacementReader;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.placement.PodHold;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.reading.KnownNodes.BareNode;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Reads what nodes have, what pods need of them and what pods hold of them. */
public final class CapacityReader {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final PlacementReader placement;
    private final ProviderAsk asks;
    private final PodSharing sharing;
    private final Interned interned = new Interned();

    /**
     * @param asks what containers ask of GPUs that our device plugin hands out
     * @param sharing how pods share these
     */
    public CapacityReader(RequestGrammars grammars, ProviderAsk asks, PodSharing sharing) {
        this.placement = new PlacementReader(grammars, CapacityReader::hamiGpus);
        this.asks = asks;
        this.sharing = sharing;
    }

    private static List<HamiGpu> hamiGpus(String json) {
        try {
            return List.of(JSON.readValue(json, HamiGpu[].class));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** What a node has while nobody runs there. */
    BareNode node(Node node) {
        var meta = node.getMetadata();
        var spec = node.getSpec();
        Amounts allocatable =
                node.getStatus() == null
                        ? Amounts.NONE
                        : amounts(node.getStatus().getAllocatable());
        return new BareNode(
                new NodeView(
                        meta.getName(),
                        requireNonNullElse(meta.getLabels(), Map.of()),
                        spec == null ? List.of() : spec.getTaints(),
                        spec != null && Boolean.TRUE.equals(spec.getUnschedulable()),
                        placement.emptyNode(
                                allocatable, requireNonNullElse(meta.getAnnotations(), Map.of())),
                        null,
                        List.of()),
                allocatable);
    }

    PodAsk ask(Pod pod) {
        PodRequest request = request(pod.getSpec());
        return interned.one(
                new PodAsk(
                        taken(pod.getSpec(), request),
                        placement.asks(request),
                        sharing.of(pod, asks.of(request))));
    }

    /**
     * @param hasGpu whether it asks for GPUs
     */
    public PodHold hold(Pod pod, boolean hasGpu) {
        PodRequest request = request(pod.getSpec());
        // A pod that is only nominated holds no GPU yet, just reserved capacity.
        boolean bound = pod.getSpec().getNodeName() != null;
        return new PodHold(
                taken(pod.getSpec(), request),
                hasGpu && bound ? placement.holds(request, annotations(pod)) : List.of(),
                bound
                        ? sharing.of(
                                pod,
                                PlacementAnnotation.placed(
                                        asks.of(request),
                                        pod.getMetadata().getUid(),
                                        annotations(pod)))
                        : List.of());
    }

    // A scheduler passes over amounts of zero, of which a pod may name tens of thousands.
    private Amounts taken(PodSpec pod, PodRequest request) {
        var taken = new HashMap<>(requests(pod, request).byResource());
        taken.values().removeIf(amount -> amount.signum() == 0);
        return interned.one(new Amounts(taken));
    }

    /** Why a pod's place cannot be judged by its GPUs, in words; null if it can. */
    @Nullable String unjudged(Pod pod) {
        return placement.unjudged(request(pod.getSpec()), annotations(pod));
    }

    /** What its containers ask for, of every resource. */
    public static PodRequest request(PodSpec pod) {
        return ResourceReader.request(pod, resource -> true);
    }

    private static Map<String, String> annotations(Pod pod) {
        return requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    }
}

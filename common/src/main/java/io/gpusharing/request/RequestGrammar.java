package io.gpusharing.request;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** One provider's way of asking for GPUs: what is legal, what it is worth, what it needs. */
public interface RequestGrammar {

    /** Short name, for instance {@code vcuda}; a label of metrics and a word of configuration. */
    String name();

    /** Whether this grammar gives the extended resource its meaning. */
    boolean reads(String resource);

    /**
     * Whether the request is legal, and what it is worth as far as that is known before binding.
     */
    Verdict judge(PodRequest pod);

    /**
     * What a legal pod holds on its node. Where the node does not say enough, a default stands in
     * and the answer names what was missing; the default is never silently nothing.
     *
     * @param devices what is known of the devices that a container gets
     */
    BoundShare shareOn(PodRequest pod, Function<ContainerRequest, NodeFacts> devices);

    /**
     * The same where all of its containers get devices of one kind.
     *
     * @param node what is known of the node's devices
     */
    default BoundShare shareOn(PodRequest pod, NodeFacts node) {
        return shareOn(pod, container -> node);
    }

    /**
     * Whether a container of a legal pod asks for a part of a GPU, wherever it will run. Only what
     * the words themselves say counts: {@code nvidia.com/gpu: 1} may turn out to be a replica on
     * its node, but does not ask for one.
     */
    boolean asksForAPart(PodRequest pod);

    /**
     * The request with the amounts that the site gives to containers which leave them out; the same
     * request where there is nothing to add. Nothing that somebody wrote is changed.
     */
    default PodRequest completed(PodRequest pod) {
        return pod;
    }

    /** Annotations that the provider needs on the pod; a value the user wrote always wins. */
    default Map<String, String> annotations(PodRequest pod) {
        return Map.of();
    }

    /** What is wrong with annotations that the provider reads, as the user wrote them. */
    default List<String> warnings(Map<String, String> annotations) {
        return List.of();
    }

    /**
     * What a legal pod could not get on any of the nodes there are now. An autoscaler may bring a
     * larger one, so these only warn.
     *
     * @param nodes the cluster's nodes; those without such GPUs are passed over, and no nodes at
     *     all give no warning
     */
    List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes);
}

package io.gpusharing.request.grammar;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFact;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.request.Violation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Function;

/**
 * A grammar whose resources are counted container by container. What a container is worth on a node
 * that says nothing decides what is known before binding: the facts missing there are the ones that
 * the node has to name.
 */
abstract class CountingGrammar implements RequestGrammar {

    /** The resources that the container may name and this grammar reads, in a fixed order. */
    abstract List<CountedResource> resourcesOf(ContainerRequest container);

    /** What a legal container holds on the node. */
    abstract BoundShare worth(ContainerRequest container, NodeFacts node);

    /** Adds what is wrong with amounts that are legal one by one but not together. */
    void checkTogether(ContainerRequest container, List<Violation> violations) {}

    /** What a legal container holds at least, on whatever node. */
    GpuShare least(ContainerRequest container) {
        BoundShare worth = worth(container, NodeFacts.UNKNOWN);
        return worth.isExact() ? worth.share() : GpuShare.NONE;
    }

    /** Whether a legal container asks for a part of a GPU, whatever its node turns out to be. */
    boolean isPart(ContainerRequest container) {
        BoundShare worth = worth(container, NodeFacts.UNKNOWN);
        // An amount of memory is a part of some GPU, and so is a profile of one; that an unknown
        // whole stands in for it where nothing is known does not make it one.
        return worth.missing().contains(NodeFact.MEMORY_PER_GPU)
                || worth.missing().contains(NodeFact.MIG_PROFILE)
                || !worth.share().isWhole();
    }

    @Override
    public final boolean asksForAPart(PodRequest pod) {
        for (ContainerRequest container : pod.containers()) {
            if (isPart(container)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public final Verdict judge(PodRequest pod) {
        if (!pod.asksFor(this::reads)) {
            return new NotOurs();
        }
        var violations = new ArrayList<Violation>();
        for (ContainerRequest container : pod.containers()) {
            int before = violations.size();
            for (CountedResource resource : resourcesOf(container)) {
                resource.check(container, violations);
            }
            if (violations.size() == before) {
                checkTogether(container, violations);
            }
        }
        if (!violations.isEmpty()) {
            return new Illegal(violations);
        }
        BoundShare unbound = shareOn(pod, NodeFacts.UNKNOWN);
        return unbound.isExact()
                ? new Legal(unbound.share())
                : new LegalUntilBound(pod.effective(this::least), reason(unbound.missing()));
    }

    @Override
    public final BoundShare shareOn(PodRequest pod, Function<ContainerRequest, NodeFacts> devices) {
        var missing = EnumSet.noneOf(NodeFact.class);
        GpuShare share =
                pod.effective(container -> {
                    BoundShare worth = worth(container, devices.apply(container));
                    missing.addAll(worth.missing());
                    return worth.share();
                });
        return new BoundShare(share.atLeastAMillionth(), missing);
    }

    @Override
    public List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes) {
        var warnings = new ArrayList<String>();
        for (ContainerRequest container : pod.containers()) {
            for (CountedResource resource : resourcesOf(container)) {
                long most = 0;
                for (NodeFacts node : nodes) {
                    most = Math.max(most, node.units(resource.name()).orElse(0));
                }
                long units = resource.units(container);
                if (most > 0 && units > most) {
                    warnings.add(
                            "container \"%s\" asks for %d %s; the largest node has %d"
                                    .formatted(container.name(), units, resource.name(), most));
                }
            }
        }
        return warnings;
    }

    private static String reason(Set<NodeFact> missing) {
        var reason = new StringJoiner("; ");
        missing.forEach(fact -> reason.add(fact.reason()));
        return reason.toString();
    }
}

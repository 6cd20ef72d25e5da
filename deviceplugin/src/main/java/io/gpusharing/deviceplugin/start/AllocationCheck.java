package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.cluster.PodEvents.PodName;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.kubelet.Checkpoint;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.deviceplugin.start.Disagreement.Kind;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the kubelet's table with our grants, for pods that run: when a container starts they are
 * made to agree, and files may be lost later. A lost grant is given again where the pod's scheduler
 * has written on it which GPUs it has; what cannot be known is told.
 */
final class AllocationCheck {

    private static final Logger log = LoggerFactory.getLogger(AllocationCheck.class);

    private static final Duration EVERY = Duration.ofSeconds(30);

    private final List<String> resources;
    private final UnitHolders.Table table;
    private final NodePods pods;
    private final Grants grants;
    private final ContainerStarts starts;
    private final InstantSource clock;
    private Instant next = Instant.EPOCH;
    private Set<Disagreement> found = Set.of();

    /** What two looks found: a container may start or end between two of the three sources. */
    private volatile Set<Disagreement> lasting = Set.of();

    AllocationCheck(
            List<String> resources,
            UnitHolders.Table table,
            NodePods pods,
            Grants grants,
            ContainerStarts starts,
            InstantSource clock) {
        this.resources = resources;
        this.table = table;
        this.pods = pods;
        this.grants = grants;
        this.starts = starts;
        this.clock = clock;
    }

    /** What does not agree, and did not at the last look either. */
    Set<Disagreement> lasting() {
        return lasting;
    }

    /** Looks, if it is time again. */
    void look() throws IOException {
        Instant now = clock.instant();
        if (now.isBefore(next) || !pods.isListed()) {
            return;
        }
        next = now.plus(EVERY);
        Set<Disagreement> before = found;
        found = compare(table.read());
        var both = new HashSet<Disagreement>();
        for (Disagreement it : found) {
            if (before.contains(it) && !isGrantedAgain(it)) {
                both.add(it);
            }
        }
        lasting = Set.copyOf(both);
    }

    private Set<Disagreement> compare(Checkpoint allocated) {
        var different = new HashSet<Disagreement>();
        var holding = new HashSet<String>();
        for (Entry entry : allocated.entries()) {
            if (resources.contains(entry.resource())) {
                holding.add(entry.podUid());
                if (grants.of(entry.podUid()).isEmpty()) {
                    running(entry.podUid(), entry.container())
                            .map(pod -> new Disagreement(Kind.UNGRANTED, PodName.of(pod)))
                            .ifPresent(different::add);
                }
            }
        }
        for (PodGrant grant : grants.all()) {
            if (!holding.contains(grant.uid())
                    && grant.containers().stream()
                            .anyMatch(it -> running(grant.uid(), it.container()).isPresent())) {
                different.add(new Disagreement(Kind.UNALLOCATED, PodName.of(grant)));
            }
        }
        return different;
    }

    private Optional<NodePod> running(String podUid, String container) {
        return pods.byUid(podUid).filter(pod -> pod.running().containsKey(container));
    }

    private boolean isGrantedAgain(Disagreement it) throws IOException {
        NodePod pod = pods.byUid(it.pod().uid()).orElse(null);
        if (it.kind() != Kind.UNGRANTED || pod == null || !starts.grantAgain(pod)) {
            return false;
        }
        log.atWarn()
                .addKeyValue("namespace", pod.namespace())
                .addKeyValue("pod", pod.name())
                .log("a pod that runs had no grant, and has it again as it was written on the pod");
        return true;
    }
}

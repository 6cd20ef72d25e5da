package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.cluster.PodEvents.PodName;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.deviceplugin.start.Disagreement.Kind;
import io.gpusharing.wire.PlacementAnnotation;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
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

    private final Dialect dialect;
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
            Dialect dialect,
            UnitHolders.Table table,
            NodePods pods,
            Grants grants,
            ContainerStarts starts,
            InstantSource clock) {
        this.dialect = dialect;
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
        forget();
        List<Entry> allocated = table.read().entries();
        found = compare(allocated);
        var both = new HashSet<Disagreement>();
        for (Disagreement it : found) {
            if (before.contains(it) && !isGrantedAgain(it, allocated)) {
                both.add(it);
            }
        }
        lasting = Set.copyOf(both);
    }

    /** Nothing is known, as while another plugin serves this node. */
    void forget() {
        found = Set.of();
        lasting = Set.of();
    }

    private Set<Disagreement> compare(List<Entry> allocated) {
        var different = new HashSet<Disagreement>();
        for (Entry entry : allocated) {
            if (isOurs(entry.resource()) && grants.of(entry.podUid()).isEmpty()) {
                running(entry.podUid(), entry.container())
                        .map(pod -> new Disagreement(Kind.UNGRANTED, PodName.of(pod)))
                        .ifPresent(different::add);
            }
        }
        // Whatever the resource is called: it may have been another dialect's.
        Set<String> holding = allocated.stream().map(Entry::podUid).collect(Collectors.toSet());
        for (PodGrant grant : grants.all()) {
            if (!holding.contains(grant.uid())
                    && grant.containers().stream()
                            .anyMatch(it -> running(grant.uid(), it.container()).isPresent())) {
                different.add(new Disagreement(Kind.UNALLOCATED, PodName.of(grant)));
            }
        }
        return different;
    }

    private boolean isOurs(String resource) {
        return dialect.resources().contains(resource) && dialect.decides(resource);
    }

    /** Who is ending needs no advice. */
    private Optional<NodePod> running(String podUid, String container) {
        return pods.byUid(podUid)
                .filter(pod -> !pod.ended() && !pod.deleting())
                .filter(pod -> pod.running().containsKey(container));
    }

    private boolean isGrantedAgain(Disagreement it, List<Entry> allocated) {
        NodePod pod = pods.byUid(it.pod().uid()).orElse(null);
        if (it.kind() != Kind.UNGRANTED || pod == null || !isStartedByUs(pod, allocated)) {
            return false;
        }
        try {
            if (!starts.grantAgain(pod)) {
                return false;
            }
        } catch (IOException e) {
            log.atError()
                    .addKeyValue("pod", it.pod())
                    .addKeyValue("reason", e.getMessage())
                    .log("a grant that was lost cannot be written again");
            return false;
        }
        log.atWarn()
                .addKeyValue("pod", it.pod())
                .addKeyValue("placement", pod.annotations().get(PlacementAnnotation.KEY))
                .log("a pod that runs had no grant, and has it again as it was written on the pod");
        return true;
    }

    /** Its units are of an answer of ours; another plugin's containers may be on other GPUs. */
    private boolean isStartedByUs(NodePod pod, List<Entry> allocated) {
        return allocated.stream()
                .filter(entry -> entry.podUid().equals(pod.uid()) && isOurs(entry.resource()))
                .allMatch(entry ->
                        !entry.cdiDevices().isEmpty()
                                && entry.cdiDevices().stream()
                                        .allMatch(name -> CdiDevice.of(name).isPresent()));
    }
}

package io.gpusharing.timekeeper.provider;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.leader.LeaderTask;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Evicts bound pods that our device plugin does not let start: at once if it never will, else after
 * {@code gpusharing.provider.start-deadline}. What its controller made anew after that is given the
 * time of the deadline in any case, or a request that fits nowhere would go round as fast as the
 * cluster can. A pod is read before it is evicted, so an older status of a node, or a wrong one,
 * ends no pod that is elsewhere.
 */
@Component
class RefusedPodEvictor extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(RefusedPodEvictor.class);

    private static final Set<String> LIVING = Set.of("Pending", "Running", "Unknown");

    private static final Duration AGAIN = Duration.ofMinutes(1);

    private final KubernetesClient client;
    private final PodEvictions evictions;
    private final RefusedStartWatch watch;
    private final NotStartedEvictions receipts;
    private final ClusterView view;
    private final Duration deadline;

    /** A node speaks of its own pods only, whatever it says. */
    private record Key(String node, UUID pod) {
        static Key of(RefusedStart start) {
            return new Key(start.node(), start.pod());
        }
    }

    /** When each of those that wait was first seen, by our own clock. */
    private final Map<Key, Instant> seen = new HashMap<>();

    /** Those that end, or are none of ours. */
    private final Set<Key> settled = new HashSet<>();

    /** Those that were asked for, and when they are asked for again. */
    private final Map<Key, Instant> resting = new HashMap<>();

    private final RemadePods remade = new RemadePods();

    RefusedPodEvictor(
            KubernetesClient client,
            RefusedStartWatch watch,
            NotStartedEvictions receipts,
            ClusterView view,
            ProviderProperties properties,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        super("refused-pods", leadership, clock);
        this.client = EvictionApi.askingOnce(client);
        this.evictions =
                new PodEvictions(
                        client,
                        registry,
                        "gpusharing.provider.evictions",
                        "Pods that were to be evicted because the device plugin did not let them start, by what became of that");
        this.watch = watch;
        this.receipts = receipts;
        this.view = view;
        this.deadline = properties.startDeadline();
        watch.listen(this::trigger);
    }

    @Override
    protected void takeOver() {
        seen.clear();
        settled.clear();
        resting.clear();
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        List<RefusedStart> waiting =
                watch.refused().stream().filter(it -> it.until() == null).toList();
        forgetAllBut(waiting.stream().map(Key::of).collect(Collectors.toSet()));
        Instant next = null;
        for (RefusedStart start : waiting) {
            if (settled.contains(Key.of(start))) {
                continue;
            }
            Instant patience = patience(start, now);
            Instant due = resting.getOrDefault(Key.of(start), start.isFinal() ? now : patience);
            if (!due.isAfter(now) && leads()) {
                // Before it is asked for: whatever goes wrong, the others have their turn.
                resting.put(Key.of(start), now.plus(AGAIN));
                evict(start, patience, now);
            }
            next =
                    sooner(
                            next,
                            settled.contains(Key.of(start))
                                    ? null
                                    : resting.getOrDefault(Key.of(start), due));
        }
        return next;
    }

    private void forgetAllBut(Set<Key> waiting) {
        seen.keySet().retainAll(waiting);
        settled.retainAll(waiting);
        resting.keySet().retainAll(waiting);
    }

    /**
     * When anybody has waited long enough. A node's clock that is ahead puts nothing off; one that
     * is behind ends nothing before its time.
     */
    private Instant patience(RefusedStart start, Instant now) {
        Instant first = Objects.requireNonNullElse(seen.putIfAbsent(Key.of(start), now), now);
        Instant since =
                view.pod(start.pod())
                        .map(PodFacts::lifecycle)
                        .map(PodFacts.Lifecycle::scheduled)
                        .filter(start.since()::isBefore)
                        .orElse(start.since());
        return (since.isBefore(first) ? since : first).plus(deadline);
    }

    private void evict(RefusedStart start, Instant patience, Instant now) {
        Pod pod = client.pods().inNamespace(start.namespace()).withName(start.name()).get();
        if (pod == null || !isWaiting(pod, start)) {
            receipts.close(start);
            settled.add(Key.of(start));
            return;
        }
        if (patience.isAfter(now) && remade.isAnew(pod, now)) {
            resting.put(Key.of(start), patience);
            return;
        }
        ObjectReference reference =
                Events.pod(start.namespace(), start.name(), start.pod().toString());
        receipts.plan(start, now);
        EvictionApi.Answer answer = evictions.evict(reference, pod);
        evictions.count(answer);
        log.atInfo()
                .addKeyValue("pod", start.namespace() + "/" + start.name())
                .addKeyValue("node", start.node())
                .addKeyValue("reason", start.reason())
                .addKeyValue("result", answer.result())
                .addKeyValue("detail", answer.detail())
                .log("asked for the eviction of a pod that cannot start");
        if (answer.result() == EvictionApi.Result.Ended) {
            remade.evicted(pod, now);
            tell(reference, start, now);
        }
        // If that fails the pod is looked at again, and the receipt is closed then.
        receipts.record(start, answer);
        if (answer.result() != EvictionApi.Result.Refused) {
            settled.add(Key.of(start));
        }
    }

    /**
     * Whether it is the pod that was refused, on the node of which that was said, and has not been
     * let start since: a plugin that ended may not have said so.
     */
    private static boolean isWaiting(Pod pod, RefusedStart start) {
        return start.pod().toString().equals(pod.getMetadata().getUid())
                && start.node().equals(pod.getSpec().getNodeName())
                && pod.getMetadata().getDeletionTimestamp() == null
                && (start.ran() ? LIVING : Set.of("Pending"))
                        .contains(pod.getStatus() == null ? "" : pod.getStatus().getPhase());
    }

    private void tell(ObjectReference pod, RefusedStart start, Instant now) {
        String message =
                "Evicted, because %s on %s %s: %s. A pod of a controller is made anew; make any other one anew yourself%s"
                        .formatted(
                                start.ran() ? "a container" : "it",
                                start.node(),
                                start.isFinal()
                                        ? "can never start"
                                        : "could not start since "
                                                + start.since().truncatedTo(ChronoUnit.SECONDS),
                                start.reason(),
                                start.ran() ? "" : ". The time in which it waited is given back");
        evictions.tell(
                pod,
                "not-started-" + start.pod().toString().substring(0, 8),
                "NotStarted",
                message,
                now);
    }
}

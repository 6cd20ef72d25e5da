package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.cluster.RefusedStarts;
import io.gpusharing.scheduler.evicting.Surveyor.Survey;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for the eviction of bound pods that our device plugin does not let start: at once if it
 * never will, else after {@code gpusharing.evicting.start-deadline}. What its controller made anew
 * after that is given the time of the deadline in any case, or a request that fits nowhere would go
 * round as fast as the cluster can. A pod is read before it is asked for, so an older status of a
 * node, or a wrong one, ends no pod that is elsewhere.
 */
final class RefusedStartPlanner {

    private static final Logger log = LoggerFactory.getLogger(RefusedStartPlanner.class);

    private static final Set<String> LIVING = Set.of("Pending", "Running", "Unknown");

    private static final Duration AGAIN = Duration.ofMinutes(1);

    /** While no answer comes: one that is never answered is not the first of every round. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private final PodLookup pods;
    private final PlanStore store;
    private final RefusedStarts refused;
    private final Duration deadline;

    /** A node speaks of its own pods only, whatever it says. */
    private record Key(String node, UUID pod) {
        static Key of(RefusedStart start) {
            return new Key(start.node(), start.pod());
        }
    }

    /** When each of those that wait was first seen, by our own clock. */
    private final Map<Key, Instant> seen = new HashMap<>();

    /** Those that were asked for, or are none of ours. */
    private final Set<Key> settled = new HashSet<>();

    /** Those that were looked at, and when they are again. */
    private final Map<Key, Instant> resting = new HashMap<>();

    private final RemadePods remade = new RemadePods();

    RefusedStartPlanner(PodLookup pods, PlanStore store, RefusedStarts refused, Duration deadline) {
        this.pods = pods;
        this.store = store;
        this.refused = refused;
        this.deadline = deadline;
    }

    /** Others have asked since we did, or the clock was set back. */
    void takeOver() {
        seen.clear();
        settled.clear();
        resting.clear();
    }

    /**
     * Asks for those that are due, for so many at one go.
     *
     * @param leads whether this replica still may
     * @return whether nobody is left who is due
     * @throws KubernetesClientException if the API server would most likely answer nobody
     */
    boolean plan(BooleanSupplier leads, int most, Instant now) {
        int left = most;
        List<RefusedStart> waiting = refused.waiting();
        Set<Key> keys = waiting.stream().map(Key::of).collect(Collectors.toSet());
        seen.keySet().retainAll(keys);
        settled.retainAll(keys);
        resting.keySet().retainAll(keys);
        keys.forEach(it -> seen.putIfAbsent(it, now));
        for (RefusedStart start : waiting) {
            Key key = Key.of(start);
            Instant first = Objects.requireNonNull(seen.get(key));
            Instant due = start.isFinal() ? now : patience(start.since(), first);
            if (!settled.contains(key)
                    && !resting.getOrDefault(key, due).isAfter(now)
                    && leads.getAsBoolean()) {
                if (left-- == 0) {
                    return false;
                }
                // Before it is asked for: whatever goes wrong, the others have their turn.
                resting.put(key, now.plus(AGAIN));
                askSafely(start, first, now);
            }
        }
        return true;
    }

    /**
     * When anybody has waited long enough. A node's clock that is ahead puts nothing off; one that
     * is behind ends nothing before its time.
     */
    private Instant patience(Instant since, Instant first) {
        return (since.isBefore(first) ? since : first).plus(deadline);
    }

    private void askSafely(RefusedStart start, Instant first, Instant now) {
        try {
            ask(start, first, now);
        } catch (KubernetesClientException e) {
            if (OutageLog.isOutageForAll(e)) {
                resting.put(Key.of(start), now.plus(PAUSE));
                throw e;
            }
            failed(start, e);
        } catch (RuntimeException | StackOverflowError e) {
            failed(start, e);
        }
    }

    private static void failed(RefusedStart start, Throwable problem) {
        log.atWarn()
                .addKeyValue("pod", start.namespace() + "/" + start.name())
                .setCause(problem)
                .log("cannot ask for the eviction of a pod that cannot start; trying again");
    }

    private void ask(RefusedStart start, Instant first, Instant now) {
        Pod pod = pods.find(start.namespace(), start.name(), start.pod().toString()).orElse(null);
        if (pod == null || !isWaiting(pod, start)) {
            settled.add(Key.of(start));
            return;
        }
        Instant since = scheduled(pod).filter(start.since()::isBefore).orElse(start.since());
        Instant patience = patience(since, first);
        if (patience.isAfter(now) && (!start.isFinal() || remade.isAnew(pod, now))) {
            resting.put(Key.of(start), patience);
            return;
        }
        String name = "refused-start-" + start.pod();
        if (!store.ask(eviction(name, start)) && store.isOver(name)) {
            // It was let start then.
            store.ask(eviction(name + "-" + start.since().getEpochSecond(), start));
        }
        settled.add(Key.of(start));
    }

    private static Optional<Instant> scheduled(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .filter(it -> "PodScheduled".equals(it.getType()))
                .map(PodCondition::getLastTransitionTime)
                .filter(Objects::nonNull)
                .map(ApiTime::read)
                .findFirst();
    }

    /**
     * Whether it is the pod that was refused, on the node of which that was said, and has not been
     * let start since: a plugin that ended may not have said so.
     */
    private static boolean isWaiting(Pod pod, RefusedStart start) {
        return start.node().equals(pod.getSpec().getNodeName())
                && pod.getMetadata().getDeletionTimestamp() == null
                && pod.getStatus() != null
                && (start.ran() ? LIVING : Set.of("Pending"))
                        .contains(String.valueOf(pod.getStatus().getPhase()));
    }

    /**
     * Whether a plan of ours still stands. While its device plugin says nothing of the pod any
     * more, nobody knows; one that was let start after all may be refused again.
     */
    boolean allow(EvictionPlan plan, Survey survey) {
        return plan.cause() != Cause.RefusedStart
                || survey.there().entrySet().stream()
                        .allMatch(it ->
                                refused.waiting(it.getKey().node(), it.getKey().uid())
                                        .filter(start -> isWaiting(it.getValue(), start))
                                        .isPresent());
    }

    /**
     * Whether a pod was let start after all: nobody will end it for that. That its device plugin
     * says nothing of it does not suffice, and neither does what the pod says alone. Before the
     * nodes have been listed nobody knows what they say.
     */
    boolean isOver(EvictionPlan plan, Survey survey) {
        return plan.cause() == Cause.RefusedStart
                && refused.areKnown()
                && survey.there().entrySet().stream()
                        .allMatch(it ->
                                refused.waiting(it.getKey().node(), it.getKey().uid()).isEmpty()
                                        && runs(it.getValue()));
    }

    private static boolean runs(Pod pod) {
        return pod.getStatus() != null
                && "Running".equals(pod.getStatus().getPhase())
                && Stream.of(
                                pod.getStatus().getInitContainerStatuses(),
                                pod.getStatus().getContainerStatuses())
                        .flatMap(List::stream)
                        .noneMatch(
                                it -> it.getState() != null && it.getState().getWaiting() != null);
    }

    /** A pod has been evicted by a plan. */
    void ended(EvictionPlan plan, Pod pod, Instant now) {
        if (plan.cause() == Cause.RefusedStart) {
            remade.evicted(pod, now);
        }
    }

    private static GpuEviction eviction(String name, RefusedStart start) {
        return GpuEvictions.of(
                name,
                Cause.RefusedStart,
                new Victim(
                        start.namespace(),
                        start.name(),
                        start.pod().toString(),
                        start.node(),
                        null,
                        null,
                        null,
                        why(start),
                        null,
                        null,
                        null));
    }

    private static String why(RefusedStart start) {
        return GpuEviction.inShort(
                "%s on %s %s: %s"
                        .formatted(
                                start.ran() ? "a container" : "it",
                                start.node(),
                                start.isFinal()
                                        ? "can never start"
                                        : "could not start since "
                                                + start.since().truncatedTo(ChronoUnit.SECONDS),
                                start.reason()));
    }
}

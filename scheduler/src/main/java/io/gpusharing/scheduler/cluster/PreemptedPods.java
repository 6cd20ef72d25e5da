package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.pods.Disruption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Pods that say that a kube-scheduler ended them for others, whichever one that was, as the watch
 * of pods shows them: for an hour, in which somebody writes down that they did. Safe for any
 * thread.
 */
@Component
public final class PreemptedPods implements ObjectInformer.Handler<Pod> {

    /** Longer than a plan of ours is open that may have ended the pod. */
    private static final Duration REMEMBERED = Duration.ofHours(1);

    /** Of thousands at once the others have no receipt. */
    private static final int MOST = 5_000;

    private final Map<String, Preempted> byUid = new ConcurrentHashMap<>();

    /** UIDs of those of which it has been written down. */
    private final Set<String> written = ConcurrentHashMap.newKeySet();

    private final Clock clock;

    public PreemptedPods(@Qualifier("evicting") Clock clock) {
        this.clock = clock;
    }

    /**
     * A pod that was preempted.
     *
     * @param node from which
     * @param priority its own
     * @param at when that was said, by the clock of who did it
     * @param seen when that was seen, by ours
     */
    public record Preempted(PodRef pod, String node, int priority, Instant at, Instant seen) {}

    /** Those of which nobody has written it down, oldest first. */
    public List<Preempted> unwritten() {
        forget(clock.instant());
        return byUid.values().stream()
                .filter(it -> !written.contains(it.pod().uid()))
                .sorted(Comparator.comparing(Preempted::seen))
                .toList();
    }

    /** It has been written down of a pod, whichever replica did it. */
    public void noteWritten(String uid) {
        if (byUid.containsKey(uid)) {
            written.add(uid);
        }
    }

    private void forget(Instant now) {
        byUid.values().removeIf(it -> it.seen().plus(REMEMBERED).isBefore(now));
        written.retainAll(byUid.keySet());
    }

    @Override
    public void onUpdate(Pod pod) {
        // Of one that is not being deleted it was said in vain.
        if (pod.getMetadata().getDeletionTimestamp() != null || PodPhase.hasEnded(pod)) {
            see(pod);
        }
    }

    /** Of one that had no grace nothing else is seen. */
    @Override
    public void onDelete(Pod pod) {
        see(pod);
    }

    private void see(Pod pod) {
        // Of one that was seen before who it is remains.
        if (pod.getSpec() == null || pod.getSpec().getNodeName() == null) {
            return;
        }
        Instant now = clock.instant();
        if (byUid.size() >= MOST) {
            forget(now);
        }
        Disruption.at(pod, Disruption.BY_SCHEDULER)
                .filter(at -> at.plus(REMEMBERED).isAfter(now))
                .filter(_ -> byUid.size() < MOST)
                .ifPresent(at -> byUid.putIfAbsent(pod.getMetadata().getUid(), of(pod, at, now)));
    }

    private static Preempted of(Pod pod, Instant at, Instant now) {
        return new Preempted(
                new PodRef(
                        pod.getMetadata().getUid(),
                        pod.getMetadata().getNamespace(),
                        pod.getMetadata().getName()),
                pod.getSpec().getNodeName(),
                requireNonNullElse(pod.getSpec().getPriority(), 0),
                at,
                now);
    }
}

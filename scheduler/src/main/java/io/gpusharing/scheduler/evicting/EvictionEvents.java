package io.gpusharing.scheduler.evicting;

import static io.gpusharing.kubernetes.EvictionPlan.result;
import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.cluster.RefusedStarts;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says on pods that they were evicted, and why, or that room was made for them. An Event is named
 * by its plan: whoever finds it carried out says so again, and it is there once.
 */
final class EvictionEvents {

    private static final Logger log = LoggerFactory.getLogger(EvictionEvents.class);

    private static final int ENOUGH_OF_A_UID = 8;

    private final Events events;
    private final RefusedStarts refused;

    EvictionEvents(KubernetesClient client, RefusedStarts refused) {
        this.events = new Events(PromptClient.of(client), Names.SCHEDULER);
        this.refused = refused;
    }

    /** Says on a victim that it ends, and why. */
    void ended(EvictionPlan plan, Victim victim, Answer answer, Instant now) {
        switch (plan.cause()) {
            case Reclaim -> reclaimed(plan, victim, answer, now);
            case RefusedStart -> notStarted(victim, now);
            case MemoryOveruse ->
                    tell(
                            pod(victim),
                            "memory-" + brief(victim.uid()),
                            Events.Type.Warning,
                            "GpuMemoryExceeded",
                            "Evict",
                            "Evicted, because it %s. Ask for more memory, or let its programs take less. A pod of a controller is made anew"
                                    .formatted(victim.why()),
                            now);
            // kube-scheduler says so itself.
            case Preemption -> {}
        }
    }

    private void reclaimed(EvictionPlan plan, Victim victim, Answer answer, Instant now) {
        Waiter waiter = plan.waiter().orElse(null);
        if (waiter == null) {
            return;
        }
        String done =
                result(answer) == Result.Deleted
                        ? "Deleted, although that was refused since %s (%s),"
                                .formatted(
                                        seconds(requireNonNull(victim.refusedSince())),
                                        answer.detail())
                        : "Evicted";
        tell(
                pod(victim),
                "reclaimed-" + brief(plan.uid()),
                Events.Type.Warning,
                "Reclaimed",
                "Reclaim",
                "%s to make room on %s for %s/%s, which is in budget: %s"
                        .formatted(
                                done,
                                plan.object().getSpec().node(),
                                waiter.namespace(),
                                waiter.name(),
                                victim.why()),
                now);
    }

    private void notStarted(Victim victim, Instant now) {
        boolean ran = refused.waiting(victim.node(), victim.uid()).map(it -> it.ran()).orElse(true);
        tell(
                pod(victim),
                "not-started-" + brief(victim.uid()),
                Events.Type.Warning,
                "NotStarted",
                "Evict",
                "Evicted, because %s. A pod of a controller is made anew; make any other one anew yourself%s"
                        .formatted(
                                victim.why(),
                                ran ? "" : ". The time in which it waited is given back"),
                now);
    }

    /** Says on the waiter that room was made for it. */
    void roomMade(EvictionPlan plan, long gone, Instant now) {
        plan.waiter()
                .ifPresent(waiter ->
                        tell(
                                Events.pod(waiter.namespace(), waiter.name(), waiter.uid()),
                                "room-made-" + brief(plan.uid()),
                                Events.Type.Normal,
                                "RoomMade",
                                "Reclaim",
                                "%d pod(s) of budgets that are used up were evicted from %s"
                                        .formatted(gone, plan.object().getSpec().node()),
                                now));
    }

    /** If that fails the pod has ended all the same, and the object says so, too. */
    private void tell(
            ObjectReference pod,
            String id,
            Events.Type type,
            String reason,
            String action,
            String message,
            Instant now) {
        try {
            events.write(pod, id, new Text(type, reason, action, message), now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("pod", pod.getNamespace() + "/" + pod.getName())
                    .setCause(e)
                    .log("cannot write an Event about the eviction");
        }
    }

    /** A pod as the object of an Event, or of a request. */
    static ObjectReference pod(Victim victim) {
        return Events.pod(victim.namespace(), victim.name(), victim.uid());
    }

    /** As people name a pod: {@code team-a/train}. */
    static String name(Victim victim) {
        return victim.namespace() + "/" + victim.name();
    }

    private static String brief(String uid) {
        return uid.substring(0, Math.min(uid.length(), ENOUGH_OF_A_UID));
    }

    private static String seconds(String instant) {
        return ApiTime.read(instant).truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Logs what the API server answered. */
    static void log(EvictionPlan plan, Victim victim, Answer answer) {
        log.atInfo()
                .addKeyValue("eviction", plan.name())
                .addKeyValue("cause", plan.cause())
                .addKeyValue("pod", name(victim))
                .addKeyValue("node", victim.node())
                .addKeyValue("result", answer.result())
                .addKeyValue("detail", answer.detail())
                .log("asked for the eviction of a pod");
    }
}

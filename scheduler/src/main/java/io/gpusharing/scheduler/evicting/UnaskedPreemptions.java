package io.gpusharing.scheduler.evicting;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.KnownBudget;
import io.gpusharing.scheduler.cluster.PreemptedPods;
import io.gpusharing.scheduler.cluster.PreemptedPods.Preempted;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a plan for each pod that a kube-scheduler has preempted without having asked us whom to
 * end: the cluster's own, or ours for a pod without GPUs. It is written afterwards, once for each
 * pod, and what became of it is found out as of those that were asked for. Where nobody evicts
 * meanwhile there is none.
 */
final class UnaskedPreemptions {

    private static final Logger log = LoggerFactory.getLogger(UnaskedPreemptions.class);

    private static final String PREFIX = "preempted-";

    /** By then the plan is seen of whoever did ask us, and the waiter is nominated or bound. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Duration AGAIN = Duration.ofMinutes(1);

    /** While no answer comes. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private final PreemptedPods preempted;
    private final Preemptors preemptors;
    private final EvictionWatch watch;
    private final PlanStore store;
    private final Budgets budgets;
    private final Duration maxGrace;

    /** When those are looked at again that were, by UID. */
    private final Map<String, Instant> resting = new HashMap<>();

    /**
     * @param budgets who pays for namespaces, and how that stands
     * @param maxGrace for how long a pod that ends is waited for
     */
    UnaskedPreemptions(
            PreemptedPods preempted,
            Preemptors preemptors,
            EvictionWatch watch,
            PlanStore store,
            Budgets budgets,
            Duration maxGrace) {
        this.preempted = preempted;
        this.preemptors = preemptors;
        this.watch = watch;
        this.store = store;
        this.budgets = budgets;
        this.maxGrace = maxGrace;
        watch.listenForDeleted(this::noteDeleted);
    }

    /**
     * What said that a pod had ended is not written again, also where this replica leads later. One
     * that begins afterwards does not know of it.
     */
    private void noteDeleted(EvictionPlan plan) {
        plan.victims().stream()
                .filter(it -> isOne(plan) || plan.hasEnded(it))
                .forEach(it -> preempted.noteWritten(it.uid()));
    }

    /** Whether a plan was written after its victim had been preempted. */
    static boolean isOne(EvictionPlan plan) {
        return plan.cause() == Cause.Preemption && plan.name().startsWith(PREFIX);
    }

    /** Others have written since we did. */
    void takeOver() {
        resting.clear();
    }

    /**
     * Writes the plans that are due, so many at one go.
     *
     * @param leads whether this replica still may
     * @return whether none is left that is due
     * @throws KubernetesClientException if the API server would most likely answer nobody
     */
    boolean plan(BooleanSupplier leads, int most, Instant now) {
        if (!budgets.areKnown()) {
            return true;
        }
        int left = most;
        List<Preempted> all = preempted.unwritten();
        resting.keySet().retainAll(all.stream().map(it -> it.pod().uid()).collect(toSet()));
        for (Preempted one : all) {
            if (isDue(one, now) && leads.getAsBoolean()) {
                if (left-- == 0) {
                    return false;
                }
                // Before it is written: whatever goes wrong, the others have their turn.
                resting.put(one.pod().uid(), now.plus(AGAIN));
                planSafely(one, now);
            }
        }
        return true;
    }

    private boolean isDue(Preempted one, Instant now) {
        return !one.seen().plus(PATIENCE).isAfter(now)
                && !resting.getOrDefault(one.pod().uid(), now).isAfter(now);
    }

    private void planSafely(Preempted one, Instant now) {
        try {
            if (isOver(one, now)) {
                preempted.noteWritten(one.pod().uid());
            }
        } catch (KubernetesClientException e) {
            if (OutageLog.isOutageForAll(e)) {
                resting.put(one.pod().uid(), now.plus(PAUSE));
                throw e;
            }
            failed(one, e);
        } catch (RuntimeException | StackOverflowError e) {
            failed(one, e);
        }
    }

    private static void failed(Preempted one, Throwable problem) {
        log.atWarn()
                .addKeyValue("pod", one.pod())
                .setCause(problem)
                .log("cannot write down that a pod was preempted; trying again");
    }

    /** Whether a plan says that the pod ended, which is written here where none does or may yet. */
    private boolean isOver(Preempted one, Instant now) {
        List<EvictionPlan> plans =
                watch.all().stream().filter(plan -> victim(plan, one).isPresent()).toList();
        if (plans.stream().anyMatch(it -> isOne(it) || hasEnded(it, one))) {
            return true;
        }
        if (plans.stream().anyMatch(it -> it.object().isOpen())) {
            // It may say so yet.
            return false;
        }
        store.ask(eviction(one, now));
        return true;
    }

    private static Optional<Victim> victim(EvictionPlan plan, Preempted one) {
        return plan.victims().stream().filter(it -> it.uid().equals(one.pod().uid())).findFirst();
    }

    private static boolean hasEnded(EvictionPlan plan, Preempted one) {
        return victim(plan, one).filter(plan::hasEnded).isPresent();
    }

    private GpuEviction eviction(Preempted one, Instant now) {
        Waiter waiter = preemptors.of(one).map(this::waiter).orElse(null);
        KnownBudget budget = payer(one.pod().namespace());
        String standing = budget == null ? null : budget.standing(now).word();
        return GpuEvictions.of(
                PREFIX + one.pod().uid(),
                new Spec(
                        Cause.Preemption.name(),
                        one.node(),
                        List.of(
                                new Victim(
                                        one.pod().namespace(),
                                        one.pod().name(),
                                        one.pod().uid(),
                                        one.node(),
                                        budget == null ? null : budget.name(),
                                        standing,
                                        null,
                                        why(one, standing, waiter, now),
                                        null,
                                        null,
                                        null)),
                        waiter,
                        now.plus(maxGrace).toString(),
                        null));
    }

    private Waiter waiter(Pod pod) {
        String namespace = pod.getMetadata().getNamespace();
        KnownBudget budget = payer(namespace);
        return new Waiter(
                namespace,
                pod.getMetadata().getName(),
                pod.getMetadata().getUid(),
                budget == null ? null : budget.name(),
                null,
                null);
    }

    private @Nullable KnownBudget payer(String namespace) {
        return budgets.ofNamespace(namespace).orElse(null);
    }

    private String why(
            Preempted one, @Nullable String standing, @Nullable Waiter waiter, Instant now) {
        return "a kube-scheduler ended it at %s for a pod of a higher priority than %d%s; its budget is %s%s"
                .formatted(
                        one.at(),
                        one.priority(),
                        waiter == null ? ", and nobody says for which" : "",
                        standing == null ? "unlimited" : standing,
                        waiter == null ? "" : ", the waiter's " + standing(waiter, now));
    }

    private String standing(Waiter waiter, Instant now) {
        KnownBudget budget = payer(waiter.namespace());
        return budget == null ? "unlimited" : budget.standing(now).word();
    }
}

package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.preemption.DisruptionBudget;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.stereotype.Component;

/** Follows the PodDisruptionBudgets of all namespaces. */
@Component
final class DisruptionBudgetWatch implements ObjectInformer.Handler<PodDisruptionBudget> {

    private final UnreadableObjects unreadable;
    private final ObjectInformer<PodDisruptionBudget> informer;

    DisruptionBudgetWatch(KubernetesClient client, UnreadableObjects unreadable) {
        this.unreadable = unreadable;
        this.informer =
                new ObjectInformer<>(
                        "poddisruptionbudgets",
                        client.policy().v1().podDisruptionBudget().inAnyNamespace(),
                        unreadable);
    }

    /** They are read when they are needed; what cannot be read is told now. */
    @Override
    public void onUpdate(PodDisruptionBudget budget) {
        readable(budget);
    }

    void start(ObjectInformer.Handler<PodDisruptionBudget> follower) {
        informer.start(and(follower));
    }

    ObjectInformer<PodDisruptionBudget> informer() {
        return informer;
    }

    /**
     * @throws IllegalStateException if they have not been listed yet
     */
    List<DisruptionBudget> now() {
        if (!informer.hasSynced()) {
            throw new IllegalStateException("PodDisruptionBudgets have not been listed yet");
        }
        return informer.objects().list().stream().map(this::read).toList();
    }

    private DisruptionBudget read(PodDisruptionBudget budget) {
        return unreadable
                .read(budget, DisruptionBudgetWatch::readable)
                .orElseGet(() -> allOf(budget.getMetadata().getNamespace()));
    }

    /** One that may guard any pod of its namespace. */
    private static DisruptionBudget allOf(String namespace) {
        return new DisruptionBudget(namespace, labels -> true, 0, Set.of());
    }

    private static DisruptionBudget readable(PodDisruptionBudget budget) {
        // One without a spec is stored, and selects nothing.
        var selector = budget.getSpec() == null ? null : budget.getSpec().getSelector();
        var status = budget.getStatus();
        return new DisruptionBudget(
                budget.getMetadata().getNamespace(),
                labels -> LabelMatch.matches(selector, labels),
                status == null ? 0 : requireNonNullElse(status.getDisruptionsAllowed(), 0),
                status == null
                        ? Set.of()
                        : requireNonNullElse(status.getDisruptedPods(), Map.<String, String>of())
                                .keySet());
    }
}

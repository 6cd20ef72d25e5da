package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.scheduler.preemption.DisruptionBudget;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.stereotype.Component;

/** Follows the PodDisruptionBudgets of all namespaces. */
@Component
final class DisruptionBudgetWatch
        implements ObjectInformer.Handler<PodDisruptionBudget>, AutoCloseable {

    private final ObjectInformer<PodDisruptionBudget> informer;

    DisruptionBudgetWatch(KubernetesClient client) {
        this.informer =
                new ObjectInformer<>(
                        "poddisruptionbudgets",
                        client.policy().v1().podDisruptionBudget().inAnyNamespace());
    }

    void start() {
        informer.start(this);
    }

    /**
     * @throws IllegalStateException if they have not been listed yet
     */
    List<DisruptionBudget> now() {
        if (!informer.hasSynced()) {
            throw new IllegalStateException("PodDisruptionBudgets have not been listed yet");
        }
        return informer.objects().list().stream().map(DisruptionBudgetWatch::read).toList();
    }

    private static DisruptionBudget read(PodDisruptionBudget budget) {
        var selector = budget.getSpec().getSelector();
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

    @Override
    public void close() {
        informer.close();
    }
}

package io.gpusharing.scheduler.budgets;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.ObjectInformer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.context.SmartLifecycle;

/** Follows budgets and grants, and knows whether the API server still speaks of them. */
final class BudgetWatch implements SmartLifecycle {

    /** The API server speaks every minute; the ledger's word is good for as long. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final ObjectInformer<GpuBudget> budgetInformer;
    private final ObjectInformer<GenericKubernetesResource> grantInformer;
    private final Budgets budgets;
    private final KnownGrants grants;
    private final InstantSource clock;
    private volatile boolean running;

    /**
     * @param clock the one by which others ask the watches for their silence
     */
    BudgetWatch(
            ObjectInformer<GpuBudget> budgetInformer,
            ObjectInformer<GenericKubernetesResource> grantInformer,
            Budgets budgets,
            KnownGrants grants,
            InstantSource clock) {
        this.budgetInformer = budgetInformer;
        this.grantInformer = grantInformer;
        this.budgets = budgets;
        this.grants = grants;
        this.clock = clock;
    }

    /** Why what is known here may be old; empty if it is not. */
    Optional<String> whyOld() {
        if (!budgets.areKnown() || !grants.areKnown()) {
            return Optional.of("budgets and grants have not been listed yet");
        }
        Instant now = clock.instant();
        // Each is asked each time: a silence is as exact as that.
        List<String> silent =
                Stream.of(budgetInformer, grantInformer)
                        .filter(it -> it.silence(now).compareTo(PATIENCE) > 0)
                        .map(ObjectInformer::plural)
                        .toList();
        return silent.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        "the API server has said nothing of %s for %d s"
                                .formatted(String.join(" and ", silent), PATIENCE.toSeconds()));
    }

    @Override
    public void start() {
        running = true;
        var _ = budgetInformer.start(budgets);
        var _ = grantInformer.start(grants);
    }

    @Override
    public void stop() {
        running = false;
        budgetInformer.close();
        grantInformer.close();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}

package io.gpusharing.scheduler.budgets;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.time.Clock;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Puts together who follows budgets and grants, and who says what of them may be acted on. */
@Configuration(proxyBeanMethods = false)
class BudgetsConfiguration {

    @Bean
    Budgets budgets(
            @Value("${gpusharing.budgets.unnamed-namespaces:Unlimited}") String unnamed,
            Clock clock) {
        return new Budgets(
                clock,
                "Shared".equals(unnamed)
                        ? Optional.of(GpuBudget.OF_UNNAMED_NAMESPACES)
                        : Optional.empty());
    }

    @Bean
    KnownGrants knownGrants() {
        return new KnownGrants();
    }

    /** The watch starts and ends it. */
    @Bean(destroyMethod = "")
    ObjectInformer<GpuBudget> budgetInformer(
            KubernetesClient client, UnreadableObjects unreadable) {
        return new ObjectInformer<>("gpubudgets", client.resources(GpuBudget.class), unreadable);
    }

    /**
     * The watch starts and ends it. A list has an end though one of its grants has another shape
     * than ours.
     */
    @Bean(destroyMethod = "")
    ObjectInformer<GenericKubernetesResource> grantInformer(
            KubernetesClient client, UnreadableObjects unreadable) {
        return new ObjectInformer<>(
                "gpugrants",
                client.genericKubernetesResources(
                        ResourceDefinitionContext.fromResourceType(GpuGrant.class)),
                unreadable);
    }

    @Bean
    BudgetWatch budgetWatch(
            ObjectInformer<GpuBudget> budgetInformer,
            ObjectInformer<GenericKubernetesResource> grantInformer,
            Budgets budgets,
            KnownGrants grants,
            Clock clock) {
        return new BudgetWatch(budgetInformer, grantInformer, budgets, grants, clock);
    }

    @Bean
    FreshBudgets freshBudgets(
            KubernetesClient client,
            @Value("${gpusharing.namespace}") String namespace,
            KnownGrants grants,
            BudgetWatch watch,
            UnreadableObjects unreadable) {
        return new FreshBudgets(client, namespace, grants, watch::whyOld, unreadable);
    }
}

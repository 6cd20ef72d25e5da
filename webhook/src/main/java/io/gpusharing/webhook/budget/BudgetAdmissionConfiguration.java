package io.gpusharing.webhook.budget;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.webhook.cluster.BudgetProperties;
import io.gpusharing.webhook.settings.GpuSharingProperties;
import java.util.HashSet;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what judges budgets. */
@Configuration(proxyBeanMethods = false)
class BudgetAdmissionConfiguration {

    @Bean
    NamespaceWatch namespaceWatch(KubernetesClient client, UnreadableObjects unreadable) {
        return new NamespaceWatch(client, unreadable);
    }

    @Bean
    BudgetAdmission budgetAdmission(
            GpuSharingProperties installation, BudgetProperties budgets, NamespaceWatch names) {
        var excluded = new HashSet<>(budgets.excludedNamespaces());
        excluded.add(installation.namespace());
        return new BudgetAdmission(excluded, names::lacks);
    }
}

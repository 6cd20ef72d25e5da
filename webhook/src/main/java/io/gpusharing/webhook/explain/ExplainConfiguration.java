package io.gpusharing.webhook.explain;

import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.webhook.cluster.PlacementProperties;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.pod.ClaimProperties;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.review.ReviewReader;
import io.gpusharing.webhook.template.WorkloadProperties;
import java.time.Clock;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Only what a decision needs: no server, no cluster. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({
    ClaimProperties.class,
    PriorityClassProperties.class,
    MpsProperties.class,
    PlacementProperties.class,
    PolicyProperties.class,
    SidecarProperties.class,
    WorkloadProperties.class
})
class ExplainConfiguration {

    @Bean
    ExplainCommand explainCommand(
            RequestGrammars grammars,
            ProviderAsk asks,
            PolicyProperties policy,
            MpsProperties mps,
            PriorityClassProperties classes,
            PlacementProperties placement,
            SidecarProperties sidecar,
            WorkloadProperties workloads,
            ClaimProperties claims) {
        return new ExplainCommand(
                new Explainer(grammars, asks, policy, mps, classes, placement, sidecar, workloads),
                new ReviewReader(grammars::reads, claims::isClaimed),
                Clock.systemUTC(),
                System.out);
    }
}

package io.gpusharing.webhook.settings;

import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires the ways of asking for GPUs that the site has chosen. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(GpuSharingProperties.class)
public class GrammarConfiguration {

    @Bean
    RequestGrammars requestGrammars(GpuSharingProperties properties) {
        return Grammars.of(properties);
    }

    @Bean
    ProviderAsk providerAsk(GpuSharingProperties properties) {
        return new ProviderAsk(MetagpuGrammar.units(properties.metagpuUnits()));
    }
}

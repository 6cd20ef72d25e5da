package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.receipt.LookBack;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class ReclaimConfiguration {

    @Bean
    LookBack lookBack(ReclaimProperties properties) {
        return new LookBack(properties.lookBack());
    }
}

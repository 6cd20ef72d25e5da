package io.gpusharing.timekeeper.web;

import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;

/**
 * What is ordered is what is written: a mistyped field, one that comes twice or a part of a
 * micro-GPU is refused, and never left out.
 */
@Configuration(proxyBeanMethods = false)
class StrictRequestBodies {

    @Bean
    JsonMapperBuilderCustomizer strictly() {
        return json ->
                json.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION);
    }
}

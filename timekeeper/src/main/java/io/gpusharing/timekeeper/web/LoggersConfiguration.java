package io.gpusharing.timekeeper.web;

import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.invoke.ParameterValueMapper;
import org.springframework.boot.actuate.endpoint.web.EndpointMapping;
import org.springframework.boot.actuate.endpoint.web.EndpointMediaTypes;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.actuate.logging.LoggersEndpoint;
import org.springframework.boot.logging.LoggerGroups;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.webmvc.actuate.endpoint.web.AbstractWebMvcEndpointHandlerMapping;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Spring Boot's own {@code loggers} endpoint, beside the questions instead of on the management
 * port: any client that reaches that one may ask, and here {@link ApiSecurity} decides.
 */
@Configuration(proxyBeanMethods = false)
class LoggersConfiguration {

    @Bean
    LoggersEndpoint loggersEndpoint(LoggingSystem logging, ObjectProvider<LoggerGroups> groups) {
        return new LoggersEndpoint(logging, groups.getIfAvailable(LoggerGroups::new));
    }

    @Bean
    HandlerMapping loggersMapping(ApplicationContext context, ParameterValueMapper parameters) {
        var json = new EndpointMediaTypes(MediaType.APPLICATION_JSON_VALUE);
        var loggers =
                new WebEndpointDiscoverer(
                        context,
                        parameters,
                        json,
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(it -> it.getEndpointId().equals(EndpointId.of("loggers"))),
                        List.of());
        return new AbstractWebMvcEndpointHandlerMapping(
                new EndpointMapping("/api/v1"), loggers.getEndpoints(), json, false) {

            @Override
            protected LinksHandler getLinksHandler() {
                return (request, response) -> Map.of();
            }
        };
    }
}

package io.gpusharing.web;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;

/**
 * Has a port of its own for probes and metrics share its connections too: a kubelet whose probes
 * get none would restart the service.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ManagementConnections {

    /** A kubelet and those who read metrics, in plain HTTP, which costs little. */
    private static final int MOST = 64;

    @Bean
    WebServerFactoryCustomizer<TomcatWebServerFactory> sharedManagementConnections() {
        return SharedConnections.customizer(MOST);
    }
}

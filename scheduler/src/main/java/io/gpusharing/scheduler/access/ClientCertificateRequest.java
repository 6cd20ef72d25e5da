package io.gpusharing.scheduler.access;

import java.security.cert.X509Certificate;
import javax.net.ssl.X509TrustManager;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * Has Tomcat ask for client certificates without judging them, as kube-apiserver does: {@link
 * AccessFilter} does that for each request, by the authorities of that moment, and can say in words
 * what is wrong. What TLS proves is that the client holds the key.
 */
@Component
class ClientCertificateRequest
        implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

    private final AccessProperties properties;
    private final SslBundles bundles;

    ClientCertificateRequest(AccessProperties properties, SslBundles bundles) {
        this.properties = properties;
        this.bundles = bundles;
    }

    @Override
    public void customize(ConfigurableTomcatWebServerFactory factory) {
        if (!properties.enabled()) {
            return;
        }
        factory.addConnectorCustomizers(connector -> {
            if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> protocol) {
                leaveToUs(protocol);
                // Spring Boot's own handler, which is called before, has made it anew.
                bundles.addBundleUpdateHandler(
                        AccessConfiguration.BUNDLE,
                        renewed -> {
                            leaveToUs(protocol);
                            protocol.reloadSslHostConfigs();
                        });
            }
        });
    }

    private static void leaveToUs(AbstractHttp11Protocol<?> protocol) {
        for (SSLHostConfig host : protocol.findSslHostConfigs()) {
            host.setTrustManagerClassName(Unjudged.class.getName());
        }
    }

    /** Made by Tomcat itself, by name. */
    public static final class Unjudged implements X509TrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            // See above.
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            throw new IllegalStateException("We are the server");
        }

        /** None are named, so a client shows what it has. */
        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}

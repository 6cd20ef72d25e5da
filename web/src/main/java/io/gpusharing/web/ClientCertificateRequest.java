package io.gpusharing.web;

import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.X509TrustManager;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;

/**
 * Has Tomcat ask for client certificates without judging them, as kube-apiserver does: {@link
 * ClientCertificates} does that for each request, by the authorities of that moment, and the answer
 * can say in words what is wrong. What TLS proves is that the client holds the key. Needs {@code
 * server.ssl.client-auth: want}.
 */
public final class ClientCertificateRequest
        implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

    /** The attribute of a request in which Tomcat puts what its client has shown. */
    public static final String ATTRIBUTE = "jakarta.servlet.request.X509Certificate";

    private final String bundle;
    private final SslBundles bundles;

    /**
     * @param bundle name of what is served, in {@code server.ssl.bundle}
     */
    public ClientCertificateRequest(String bundle, SslBundles bundles) {
        this.bundle = bundle;
        this.bundles = bundles;
    }

    /** What the client has shown, its own certificate first; nothing if it has shown none. */
    public static List<X509Certificate> shown(@Nullable Object attribute) {
        return attribute instanceof X509Certificate[] shown ? List.of(shown) : List.of();
    }

    @Override
    public void customize(ConfigurableTomcatWebServerFactory factory) {
        factory.addConnectorCustomizers(connector -> ask(connector, bundle, bundles));
    }

    /**
     * Has one connector of several ask for them.
     *
     * @param bundle name of what it serves; Spring Boot's own handler of its changes is there
     */
    public static void ask(Connector connector, String bundle, SslBundles bundles) {
        if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> protocol) {
            leaveToUs(protocol);
            // Spring Boot's own handler, which is called before, has made it anew.
            bundles.addBundleUpdateHandler(
                    bundle,
                    renewed -> {
                        leaveToUs(protocol);
                        protocol.reloadSslHostConfigs();
                    });
        }
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

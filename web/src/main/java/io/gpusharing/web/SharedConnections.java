package io.gpusharing.web;

import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;

/**
 * A port of HTTP that any client of the cluster may reach. Clients share its connections and
 * threads fairly by their addresses: however many connections one opens, and however slowly it
 * sends, another one is answered. Most clients of a cluster's own service have no certificate to be
 * told apart by, an API server among them.
 *
 * <p>Public with a constructor of no arguments, because Tomcat makes it by name.
 */
public final class SharedConnections extends Http11NioProtocol {

    /** Suites of TLS 1.2: with forward secrecy, and none that encrypts by CBC. */
    private static final String SUITES = "ECDHE+AESGCM:ECDHE+CHACHA20";

    private static final String PROTOCOLS = "TLSv1.2+TLSv1.3";

    public SharedConnections() {
        super(new SharingEndpoint());
    }

    /**
     * Here, because whatever is configured comes by: what a bundle of certificates says, which may
     * be mounted by others, and the same again when a certificate is renewed.
     */
    @Override
    public void addSslHostConfig(SSLHostConfig config, boolean replace) {
        config.setProtocols(PROTOCOLS);
        config.setCiphers(SUITES);
        super.addSslHostConfig(config, replace);
    }

    /** Has a service's own port share its connections. */
    public static WebServerFactoryCustomizer<TomcatWebServerFactory> customizer() {
        return factory -> factory.setProtocol(SharedConnections.class.getName());
    }
}

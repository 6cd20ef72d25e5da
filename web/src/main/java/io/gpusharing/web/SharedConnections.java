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

    /** Browsers and the proxies before us send forty at most; each is an object of 270 bytes. */
    private static final int HEADERS = 50;

    private final UnfinishedHeads heads = new UnfinishedHeads(getHandler());

    public SharedConnections() {
        super(new SharingEndpoint());
        setMaxHeaderCount(HEADERS);
        getEndpoint().setHandler(heads);
    }

    /**
     * Bounds the heads of requests that have come in part; each takes memory and no thread.
     *
     * @param most beyond which a connection ends that has one
     */
    public void setMaxUnfinishedHeads(int most) {
        heads.setMost(most);
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

    /**
     * Has a service's own port share its connections.
     *
     * @param most connections that may be open, whatever {@code server.tomcat.max-connections} says
     */
    public static WebServerFactoryCustomizer<TomcatWebServerFactory> customizer(int most) {
        return customizer(most, most);
    }

    /**
     * The same where connections are counted as quiet ones.
     *
     * @param mostUnfinished heads of requests that may have come in part
     */
    public static WebServerFactoryCustomizer<TomcatWebServerFactory> customizer(
            int most, int mostUnfinished) {
        return factory -> {
            factory.setProtocol(SharedConnections.class.getName());
            factory.addConnectorCustomizers(connector -> {
                connector.setProperty("maxConnections", String.valueOf(most));
                connector.setProperty("maxUnfinishedHeads", String.valueOf(mostUnfinished));
            });
        };
    }
}

package io.gpusharing.scheduler.access;

import io.gpusharing.web.SharedConnections;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Map;
import org.apache.catalina.connector.Connector;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.tomcat.SslConnectorCustomizer;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.Ssl.ClientAuth;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;

/**
 * A port of its own for the timekeeper, in every mode: the extender's may be reached by the
 * kube-scheduler in its pod alone, and whoever asks here is in no kube-scheduler's way.
 */
final class ExplanationsConnector implements WebServerFactoryCustomizer<TomcatWebServerFactory> {

    /** A timekeeper has three questions at most, and rolls with a surge. */
    private static final int CONNECTIONS = 16;

    /** Three answer, and the others refuse. */
    private static final int THREADS = 8;

    /** A client that has connected and says nothing, or stops in the middle, is left after this. */
    private static final Duration SILENCE = Duration.ofSeconds(3);

    private static final Duration KEPT_OPEN = Duration.ofMinutes(1);

    private final int port;
    private final String bundle;
    private final SslBundles bundles;
    private volatile @Nullable Connector connector;

    /**
     * @param port 0 for any
     * @param bundle name of what is served
     */
    ExplanationsConnector(int port, String bundle, SslBundles bundles) {
        this.port = port;
        this.bundle = bundle;
        this.bundles = bundles;
    }

    @Override
    public void customize(TomcatWebServerFactory factory) {
        Connector made = connector();
        factory.addAdditionalConnectors(made);
        connector = made;
    }

    /** Whether a request has come to this port. */
    boolean received(HttpServletRequest request) {
        return port() == request.getLocalPort();
    }

    /** The port where it listens; negative before. */
    int port() {
        Connector present = connector;
        return present == null ? -1 : present.getLocalPort();
    }

    private Connector connector() {
        var protocol = new SharedConnections();
        protocol.setMaxConnections(CONNECTIONS);
        protocol.setMaxThreads(THREADS);
        protocol.setMinSpareThreads(1);
        protocol.setMaxUnfinishedHeads(CONNECTIONS);
        protocol.setConnectionTimeout((int) SILENCE.toMillis());
        protocol.setKeepAliveTimeout((int) KEPT_OPEN.toMillis());
        // Of whoever is refused nothing more is read.
        protocol.setMaxSwallowSize(0);
        var made = new Connector(protocol);
        made.setPort(port);
        made.setParseBodyMethods("");
        var tls =
                new SslConnectorCustomizer(
                        LogFactory.getLog(ExplanationsConnector.class), made, ClientAuth.NONE);
        tls.customize(bundles.getBundle(bundle), Map.of());
        bundles.addBundleUpdateHandler(bundle, renewed -> tls.update(null, renewed));
        return made;
    }
}

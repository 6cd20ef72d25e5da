package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.web.HeapShares;
import io.gpusharing.web.ClientCertificateRequest;
import io.gpusharing.web.SharedConnections;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Map;
import org.apache.catalina.connector.Connector;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.tomcat.SslConnectorCustomizer;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.Ssl.ClientAuth;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * A port of its own for the API server, with threads and connections of its own: it takes an
 * aggregated API that does not answer for a reason to delete no namespace any more, and so nobody
 * who asks or reports elsewhere may be in its way.
 */
@Component
class AggregatedConnector implements WebServerFactoryCustomizer<TomcatWebServerFactory> {

    /** Whoever connects and asks nothing gives way to others soon. */
    private static final Duration UNTIL_ASKED = Duration.ofSeconds(3);

    private static final Duration KEPT_OPEN = Duration.ofMinutes(2);

    /**
     * Groups of a user are headers, one each; directories of large companies know hundreds. What so
     * many take is counted in {@link HeapShares}.
     */
    private static final int HEADERS = 1_000;

    private static final int HEADER_BYTES = 64 << 10;

    private final AggregatedProperties properties;
    private final SslBundles bundles;
    private final String bundle;
    private volatile @Nullable Connector connector;

    AggregatedConnector(
            AggregatedProperties properties,
            SslBundles bundles,
            @Value("${server.ssl.bundle}") String bundle) {
        this.properties = properties;
        this.bundles = bundles;
        this.bundle = bundle;
    }

    @Override
    public void customize(TomcatWebServerFactory factory) {
        if (properties.enabled()) {
            Connector made = connector();
            factory.addAdditionalConnectors(made);
            connector = made;
        }
    }

    /** Whether a request has come to that port. */
    boolean received(HttpServletRequest request) {
        Connector present = connector;
        return present != null && present.getLocalPort() == request.getLocalPort();
    }

    private Connector connector() {
        var protocol = new SharedConnections();
        HeapShares heap = HeapShares.ofThisProcess();
        protocol.setMaxConnections(heap.connectionsOfApiServers());
        protocol.setMaxThreads(heap.threadsOfApiServers());
        protocol.setMaxUnfinishedHeads(HeapShares.UNFINISHED_HEADS_OF_API_SERVERS);
        protocol.setConnectionTimeout((int) UNTIL_ASKED.toMillis());
        protocol.setKeepAliveTimeout((int) KEPT_OPEN.toMillis());
        protocol.setMaxKeepAliveRequests(-1);
        protocol.setMaxHeaderCount(HEADERS);
        protocol.setMaxHttpRequestHeaderSize(HEADER_BYTES);
        // Of whoever is refused nothing more is read.
        protocol.setMaxSwallowSize(0);
        var made = new Connector(protocol);
        made.setPort(properties.port());
        // No body is read but by whoever answers, within its bounds.
        made.setParseBodyMethods("");
        var tls =
                new SslConnectorCustomizer(
                        LogFactory.getLog(AggregatedConnector.class), made, ClientAuth.WANT);
        tls.customize(bundles.getBundle(bundle), Map.of());
        bundles.addBundleUpdateHandler(bundle, renewed -> tls.update(null, renewed));
        ClientCertificateRequest.ask(made, bundle, bundles);
        return made;
    }
}

package io.gpusharing.web;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.tomcat.SslConnectorCustomizer;
import org.springframework.boot.web.server.Ssl.ClientAuth;

/** A port of the loopback interface that serves TLS as our services do, and nothing behind it. */
final class TlsServer implements AutoCloseable {

    final CertificateAuthority authority =
            CertificateAuthority.create("test", Instant.now(), Duration.ofDays(1));

    private final Tomcat tomcat = new Tomcat();
    private final Connector connector;
    private final SslConnectorCustomizer tls;

    /**
     * @param directory is Tomcat's while it runs
     * @param protocol as its settings are at the start
     */
    TlsServer(Path directory, SharedConnections protocol) throws LifecycleException {
        connector = new Connector(protocol);
        tls =
                new SslConnectorCustomizer(
                        LogFactory.getLog(TlsServer.class), connector, ClientAuth.NONE);
        tomcat.setBaseDir(directory.toString());
        connector.setPort(0);
        tomcat.getHost();
        tls.customize(issued(), Map.of());
        tomcat.setConnector(connector);
        tomcat.start();
    }

    int port() {
        return connector.getLocalPort();
    }

    /** Serves another certificate of the same authority from now on. */
    void renew() {
        tls.update(null, issued());
    }

    private SslBundle issued() {
        return ServingCertificate.bundle(
                authority.issue(
                        List.of(InetAddress.getLoopbackAddress().getHostAddress()),
                        Instant.now(),
                        Duration.ofHours(1)));
    }

    @Override
    public void close() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}

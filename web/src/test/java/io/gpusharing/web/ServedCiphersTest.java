package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.web.testing.ClientTls;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.tomcat.SslConnectorCustomizer;
import org.springframework.boot.web.server.Ssl.ClientAuth;

class ServedCiphersTest {

    private static final String CBC = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256";
    private static final String GCM = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

    private final CertificateAuthority authority =
            CertificateAuthority.create("test", Instant.now(), Duration.ofDays(1));
    private final Tomcat tomcat = new Tomcat();
    private final Connector connector = new Connector(new SharedConnections());
    private final SslConnectorCustomizer tls =
            new SslConnectorCustomizer(
                    LogFactory.getLog(ServedCiphersTest.class), connector, ClientAuth.NONE);

    @TempDir Path directory;

    @BeforeEach
    void start() throws LifecycleException {
        tomcat.setBaseDir(directory.toString());
        connector.setPort(0);
        tomcat.getHost();
        tls.customize(issued(), Map.of());
        tomcat.setConnector(connector);
        tomcat.start();
    }

    @AfterEach
    void stop() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }

    @Test
    void aClientThatKnowsOnlyCbcIsRefusedAlsoAfterARenewal() throws IOException {
        assertThatThrownBy(() -> agreed("TLSv1.2", CBC)).isInstanceOf(SSLException.class);

        tls.update(null, issued());

        assertThatThrownBy(() -> agreed("TLSv1.2", CBC)).isInstanceOf(SSLException.class);
        assertThat(agreed("TLSv1.2", GCM)).isEqualTo(GCM);
    }

    @Test
    void olderClientsGetTls12AndOthersTls13() throws IOException {
        assertThat(agreed("TLSv1.2", GCM)).isEqualTo(GCM);
        assertThat(agreed("TLSv1.3", "TLS_AES_128_GCM_SHA256")).isEqualTo("TLS_AES_128_GCM_SHA256");
    }

    private SslBundle issued() {
        return ServingCertificate.bundle(
                authority.issue(List.of("127.0.0.1"), Instant.now(), Duration.ofHours(1)));
    }

    private String agreed(String protocol, String suite) throws IOException {
        SSLContext client = ClientTls.of(null, authority.certificate());
        try (var socket =
                (SSLSocket)
                        client.getSocketFactory()
                                .createSocket(
                                        InetAddress.getLoopbackAddress(),
                                        connector.getLocalPort())) {
            socket.setEnabledProtocols(new String[] {protocol});
            socket.setEnabledCipherSuites(new String[] {suite});
            socket.startHandshake();
            return socket.getSession().getCipherSuite();
        }
    }
}

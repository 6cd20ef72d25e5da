package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.web.testing.ClientTls;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.apache.catalina.LifecycleException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServedCiphersTest {

    private static final String CBC = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256";
    private static final String GCM = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

    @TempDir Path directory;

    private TlsServer server;

    @BeforeEach
    void start() throws LifecycleException {
        server = new TlsServer(directory, new SharedConnections());
    }

    @AfterEach
    void stop() throws LifecycleException {
        server.close();
    }

    @Test
    void aClientThatKnowsOnlyCbcIsRefusedAlsoAfterARenewal() throws IOException {
        assertThatThrownBy(() -> agreed("TLSv1.2", CBC)).isInstanceOf(SSLException.class);

        server.renew();

        assertThatThrownBy(() -> agreed("TLSv1.2", CBC)).isInstanceOf(SSLException.class);
        assertThat(agreed("TLSv1.2", GCM)).isEqualTo(GCM);
    }

    @Test
    void olderClientsGetTls12AndOthersTls13() throws IOException {
        assertThat(agreed("TLSv1.2", GCM)).isEqualTo(GCM);
        assertThat(agreed("TLSv1.3", "TLS_AES_128_GCM_SHA256")).isEqualTo("TLS_AES_128_GCM_SHA256");
    }

    private String agreed(String protocol, String suite) throws IOException {
        SSLContext client = ClientTls.of(null, server.authority.certificate());
        try (var socket =
                (SSLSocket)
                        client.getSocketFactory()
                                .createSocket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setEnabledProtocols(new String[] {protocol});
            socket.setEnabledCipherSuites(new String[] {suite});
            socket.startHandshake();
            return socket.getSession().getCipherSuite();
        }
    }
}

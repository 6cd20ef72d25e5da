package io.gpusharing.sidecar.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class MetricsServerTest {

    @Test
    void aClientThatStopsInTheMiddleOfItsRequestDelaysNoOther() throws Exception {
        try (MetricsServer server = new MetricsServer(0, () -> "page", () -> true);
                Socket silent = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            silent.getOutputStream().write("GET /metrics HT".getBytes(StandardCharsets.US_ASCII));

            assertThat(get(server, "/livez")).isEqualTo("ok");
            assertThat(get(server, "/metrics")).isEqualTo("page");
        }
    }

    private static String get(MetricsServer server, String path) throws IOException {
        URLConnection connection =
                URI.create("http://127.0.0.1:" + server.port() + path).toURL().openConnection();
        connection.setReadTimeout(3_000);
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

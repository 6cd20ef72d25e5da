package io.gpusharing.webhook.readiness;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.web.TrustAnchors;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** Asks ourselves as an API server would: by TLS, trusting what is in the caBundle. */
final class SelfReview {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final int port;
    private final String serverName;
    private final SSLContext trust;

    /**
     * @param port where we listen
     * @param serverName what our certificate has to be for
     * @param caBundle PEM
     */
    SelfReview(int port, String serverName, String caBundle) {
        this.port = port;
        this.serverName = serverName;
        this.trust = TrustAnchors.trusting(caBundle);
    }

    /**
     * Posts a review over a new connection.
     *
     * @return the answer, with its HTTP head
     * @throws IOException if there is no connection, no trust or no answer
     */
    String ask(byte[] review) throws IOException {
        try (Socket plain = new Socket()) {
            plain.connect(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                    (int) PATIENCE.toMillis());
            plain.setSoTimeout((int) PATIENCE.toMillis());
            try (SSLSocket socket =
                    (SSLSocket)
                            trust.getSocketFactory().createSocket(plain, serverName, port, true)) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
                OutputStream out = new BufferedOutputStream(socket.getOutputStream());
                out.write(
                        "POST /mutate?timeout=2s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                                .formatted(serverName, review.length)
                                .getBytes(US_ASCII));
                out.write(review);
                out.flush();
                return new String(socket.getInputStream().readAllBytes(), UTF_8);
            }
        }
    }
}

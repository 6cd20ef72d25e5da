package io.gpusharing.sidecar.report;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.gpusharing.sidecar.json.Json;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/** A timekeeper on 127.0.0.1: TLS with a CA of its own, and answers that a test chooses. */
public final class FakeTimekeeper implements AutoCloseable {

    /** A report as it came in, with its token and the client's port. */
    public record Received(String token, Map<?, ?> report, int clientPort) {}

    /** One answer. */
    public record Reply(int status, String body) {}

    /** What is answered next; the last one is repeated. */
    public final List<Reply> replies = new CopyOnWriteArrayList<>();

    /** All that came in. */
    public final List<Received> received = new CopyOnWriteArrayList<>();

    private final AtomicInteger held = new AtomicInteger();
    private volatile @Nullable CountDownLatch door;
    private final String caPem;
    private final HttpsServer server;

    /** Starts with a CA that nobody else has. */
    public FakeTimekeeper() {
        this("127.0.0.1");
    }

    /**
     * @param certifiedAddress the address that the certificate is for
     */
    public FakeTimekeeper(String certifiedAddress) {
        try {
            KeyPair ca = keys();
            X509Certificate root = certificate("reporting CA", ca, ca, null);
            KeyPair leaf = keys();
            X509Certificate served = certificate("timekeeper", leaf, ca, certifiedAddress);
            StringWriter pem = new StringWriter();
            try (JcaPEMWriter writer = new JcaPEMWriter(pem)) {
                writer.writeObject(root);
            }
            caPem = pem.toString();
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(
                    "leaf", leaf.getPrivate(), new char[0], new Certificate[] {served, root});
            KeyManagerFactory keys =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, new char[0]);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(keys.getKeyManagers(), null, null);
            server =
                    HttpsServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setHttpsConfigurator(new HttpsConfigurator(tls));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        replies.add(new Reply(200, "{\"result\":\"Accepted\",\"mode\":\"Full\"}"));
        server.createContext("/api/v1/usage", this::take);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    private static KeyPair keys() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256);
        return generator.generateKeyPair();
    }

    private static X509Certificate certificate(
            String name, KeyPair subject, KeyPair signer, @Nullable String address)
            throws Exception {
        X500Name issuer = new X500Name("CN=reporting CA");
        JcaX509v3CertificateBuilder builder =
                new JcaX509v3CertificateBuilder(
                        issuer,
                        new BigInteger(64, new SecureRandom()),
                        Date.from(Instant.now().minusSeconds(3600)),
                        Date.from(Instant.now().plusSeconds(3600)),
                        new X500Name("CN=" + name),
                        subject.getPublic());
        builder.addExtension(
                Extension.basicConstraints, true, new BasicConstraints(address == null));
        if (address != null) {
            builder.addExtension(
                    Extension.subjectAlternativeName,
                    false,
                    new GeneralNames(new GeneralName(GeneralName.iPAddress, address)));
        }
        return new JcaX509CertificateConverter()
                .getCertificate(
                        builder.build(
                                new JcaContentSignerBuilder("SHA256withECDSA")
                                        .build(signer.getPrivate())));
    }

    private void take(HttpExchange exchange) {
        try (exchange) {
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String token = exchange.getRequestHeaders().getFirst("Authorization");
            received.add(
                    new Received(
                            token == null ? "" : token,
                            Json.parseObject(body),
                            exchange.getRemoteAddress().getPort()));
            CountDownLatch closed = door;
            if (closed != null) {
                held.incrementAndGet();
                closed.await();
            }
            Reply reply = replies.size() > 1 ? replies.removeFirst() : replies.getFirst();
            byte[] answer = reply.body().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(reply.status(), answer.length);
            exchange.getResponseBody().write(answer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets every report wait for its answer. */
    public void hold() {
        door = new CountDownLatch(1);
    }

    /** How many reports wait, or have waited. */
    public int held() {
        return held.get();
    }

    /** Answers those that wait. */
    public void letGo() {
        CountDownLatch closed = door;
        door = null;
        if (closed != null) {
            closed.countDown();
        }
    }

    /** The base URL. */
    public String url() {
        return "https://127.0.0.1:" + server.getAddress().getPort();
    }

    /** PEM of its CA. */
    public String ca() {
        return caPem;
    }

    /** How many connections the reports came by. */
    public int connections() {
        Set<Integer> ports = new HashSet<>();
        received.forEach(report -> ports.add(report.clientPort()));
        return ports.size();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

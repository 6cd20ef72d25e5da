package io.gpusharing.e2e.installation;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The timekeeper's REST interface, asked as a person with curl would: over TLS, trusting the
 * published reporting CA alone.
 */
public final class TimekeeperApi {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final TestCluster cluster;
    private final URI base;
    private final HttpClient http;
    private final String namespace;
    private final String account;

    TimekeeperApi(TestCluster cluster, URI base) {
        this(cluster, base, "default", "default");
    }

    private TimekeeperApi(TestCluster cluster, URI base, String namespace, String account) {
        this.cluster = cluster;
        this.base = base;
        this.namespace = namespace;
        this.account = account;
        String ca =
                requireNonNull(
                        cluster.client()
                                .configMaps()
                                .inNamespace(Installation.NAMESPACE)
                                .withName("gpusharing-reporting-ca")
                                .require()
                                .getData()
                                .get("ca.crt"));
        this.http = HttpClient.newBuilder().sslContext(trusting(ca)).build();
    }

    /** The same, asked by another service account. */
    public TimekeeperApi as(String namespace, String account) {
        return new TimekeeperApi(cluster, base, namespace, account);
    }

    /** What a person would type. */
    public String curl(String path) {
        return "kubectl get configmap gpusharing-reporting-ca -n "
                + Installation.NAMESPACE
                + " -o 'jsonpath={.data.ca\\.crt}' >ca.crt; curl --cacert ca.crt"
                + " -H \"Authorization: Bearer $(kubectl create token default)\" '"
                + base.resolve(path)
                + "'";
    }

    /**
     * Asks.
     *
     * @throws AssertionError for any answer but 200
     */
    public JsonNode get(String path) {
        try {
            return JSON.readTree(text(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As {@link #get}, where the answer is no JSON. */
    public String text(String path) {
        try {
            HttpResponse<String> answer =
                    http.send(
                            HttpRequest.newBuilder(base.resolve(path))
                                    .header("Authorization", "Bearer " + token())
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new AssertionError(
                        path + " is answered " + answer.statusCode() + ": " + answer.body());
            }
            return answer.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /**
     * Sends a usage report with somebody's token, as anybody who got hold of it could.
     *
     * @return the status of the answer
     */
    public int report(String token, String body) {
        try {
            return http.send(
                            HttpRequest.newBuilder(base.resolve("/api/v1/usage"))
                                    .header("Authorization", "Bearer " + token)
                                    .header("Content-Type", "application/json")
                                    .POST(HttpRequest.BodyPublishers.ofString(body))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String token() {
        return cluster.kubectl()
                .run("create", "token", account, "--namespace=" + namespace)
                .orFail();
    }

    private static SSLContext trusting(String pem) {
        try {
            KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
            anchors.load(null, null);
            int number = 0;
            for (var certificate :
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(
                                    new ByteArrayInputStream(
                                            pem.getBytes(StandardCharsets.US_ASCII)))) {
                anchors.setCertificateEntry("ca-" + number++, certificate);
            }
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(anchors);
            var context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("The reporting CA cannot be read", e);
        }
    }
}

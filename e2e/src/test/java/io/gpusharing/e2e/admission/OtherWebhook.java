package io.gpusharing.e2e.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServingCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * Somebody else's mutating webhooks, all behind one HTTPS server with a certificate of its own. API
 * servers call webhooks in the order of their configurations' names; ours is {@code
 * gpusharing-webhook}.
 */
final class OtherWebhook implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpsServer server;
    private final String caBundle;

    private OtherWebhook(HttpsServer server, String caBundle) {
        this.server = server;
        this.caBundle = caBundle;
    }

    static OtherWebhook start() {
        Duration hour = Duration.ofHours(1);
        var authority = CertificateAuthority.create("other-webhook", Instant.now(), hour);
        var identity = authority.issue(List.of("127.0.0.1"), Instant.now(), hour);
        try {
            var server =
                    HttpsServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setHttpsConfigurator(
                    new HttpsConfigurator(ServingCertificate.bundle(identity).createSslContext()));
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.start();
            return new OtherWebhook(server, Pem.of(authority.certificate()));
        } catch (IOException e) {
            throw new IllegalStateException("No HTTPS server can be started", e);
        }
    }

    /**
     * Registers one that changes the new pods of one namespace.
     *
     * @param name of its configuration, which says when it is asked
     * @param reinvocation {@code Never} or {@code IfNeeded}
     * @param patch from a pod to a JSON Patch in YAML
     */
    void register(
            Api api,
            String name,
            String namespace,
            String reinvocation,
            Function<JsonNode, String> patch) {
        server.createContext("/" + name, exchange -> answer(exchange, patch));
        api.create(
                        "",
                        """
                        apiVersion: admissionregistration.k8s.io/v1
                        kind: MutatingWebhookConfiguration
                        metadata: {name: %s}
                        webhooks:
                        - name: %1$s.example.com
                          admissionReviewVersions: [v1]
                          sideEffects: None
                          failurePolicy: Fail
                          reinvocationPolicy: %s
                          clientConfig: {url: 'https://127.0.0.1:%d/%1$s', caBundle: %s}
                          rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
                          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
                        """
                                .formatted(
                                        name,
                                        reinvocation,
                                        server.getAddress().getPort(),
                                        base64(caBundle),
                                        namespace))
                .orFail();
    }

    private static void answer(HttpExchange exchange, Function<JsonNode, String> patch)
            throws IOException {
        try (exchange) {
            JsonNode request = JSON.readTree(exchange.getRequestBody()).path("request");
            ObjectNode review = JSON.createObjectNode();
            review.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
            review.putObject("response")
                    .put("uid", request.path("uid").asText())
                    .put("allowed", true)
                    .put("patchType", "JSONPatch")
                    .put("patch", base64(json(patch.apply(request.path("object")))));
            byte[] answer = JSON.writeValueAsBytes(review);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    private static String json(String yaml) {
        return Api.yaml("{patch: " + yaml + "}").path("patch").toString();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

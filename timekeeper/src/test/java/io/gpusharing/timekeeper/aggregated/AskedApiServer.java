package io.gpusharing.timekeeper.aggregated;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.gpusharing.web.Pem;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An API server that says how it passes on questions, and has an {@code APIService}. It lets {@code
 * admin} do everything, {@code ada} everything in {@code team-a}, {@code nina} everything with what
 * is called {@code train}, and {@code rita} read the ledger and the pods of {@code team-b}.
 */
final class AskedApiServer implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final HttpServer server;
    private volatile String published = "{}";
    private volatile String caBundle = "";
    private volatile boolean silent;

    AskedApiServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** From now on its own certificate is one of this authority. */
    void passesOnBy(X509Certificate authority) {
        published =
                JSON.writeValueAsString(
                        Map.of(
                                "metadata",
                                Map.of("name", "extension-apiserver-authentication"),
                                "data",
                                Map.of(
                                        "requestheader-client-ca-file",
                                        Pem.of(authority),
                                        "requestheader-allowed-names",
                                        "[\"front-proxy-client\"]",
                                        "requestheader-username-headers",
                                        "[\"X-Remote-User\"]",
                                        "requestheader-group-headers",
                                        "[\"X-Remote-Group\"]",
                                        "requestheader-extra-headers-prefix",
                                        "[\"X-Remote-Extra-\"]")));
    }

    /** By which it knows us; empty before it was told. */
    String caBundle() {
        return caBundle;
    }

    /** Whether it fails whenever it is asked about rights. */
    void silent(boolean now) {
        silent = now;
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        if (path.endsWith("/extension-apiserver-authentication")) {
            send(exchange, 200, published);
        } else if (path.endsWith("/apiservices/v1alpha1.usage.gpusharing.io")) {
            if (exchange.getRequestMethod().equals("PATCH")) {
                caBundle = JSON.readTree(body).at("/spec/caBundle").asString();
            }
            send(
                    exchange,
                    200,
                    "{\"kind\":\"APIService\",\"apiVersion\":\"apiregistration.k8s.io/v1\",\"metadata\":{\"name\":\"v1alpha1.usage.gpusharing.io\"},\"spec\":{\"caBundle\":\"%s\"}}"
                            .formatted(caBundle));
        } else if (path.endsWith("/subjectaccessreviews") && !silent) {
            send(exchange, 201, "{\"status\":{\"allowed\":%s}}".formatted(mayAsk(body)));
        } else {
            send(exchange, silent ? 500 : 404, "{\"kind\":\"Status\",\"code\":500}");
        }
    }

    private static boolean mayAsk(String review) {
        JsonNode asked = JSON.readTree(review);
        String user = asked.at("/spec/user").asString();
        return user.equals("admin")
                || (user.equals("rita") && mayRita(asked.at("/spec/resourceAttributes")))
                || (user.equals("nina")
                        && asked.at("/spec/resourceAttributes/name").asString("").equals("train"))
                || (user.equals("ada")
                        && asked.at("/spec/resourceAttributes/namespace")
                                .asString("")
                                .equals("team-a"));
    }

    private static boolean mayRita(JsonNode asked) {
        return asked.path("resource").asString("").equals("pods")
                ? asked.path("namespace").asString("").equals("team-b")
                : asked.path("group").asString("").equals("usage.gpusharing.io");
    }

    private static void send(HttpExchange exchange, int code, String answer) throws IOException {
        byte[] bytes = answer.getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

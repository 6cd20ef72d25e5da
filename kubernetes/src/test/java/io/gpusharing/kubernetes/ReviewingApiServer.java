package io.gpusharing.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An API server that says what a client may, knows one token, and can be away. */
public final class ReviewingApiServer implements AutoCloseable {

    private final HttpServer server;
    private volatile String token = "";
    private volatile String denied = "";
    private volatile int answersAll;

    public ReviewingApiServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.setExecutor(Thread::startVirtualThread);
        server.start();
    }

    /** Where it listens. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** A client with a token. */
    public KubernetesClient client(String shown) {
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder(Config.empty())
                                .withMasterUrl(url())
                                .withOauthToken(shown)
                                .build())
                .build();
    }

    /** The only token that it knows from now on; empty for any. */
    public void knows(String known) {
        token = known;
    }

    /** The kind that nobody may watch from now on; empty for none. */
    public void denies(String plural) {
        denied = plural;
    }

    /** The status that it answers to everything from now on; 0 ends that. */
    public void answersAll(int status) {
        answersAll = status;
    }

    private void answer(HttpExchange exchange) throws IOException {
        String asked = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        String shown = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
        int status =
                answersAll != 0
                        ? answersAll
                        : !token.isEmpty() && !shown.equals("Bearer " + token) ? 401 : 201;
        boolean allowed = denied.isEmpty() || !asked.contains("\"" + denied + "\"");
        byte[] answer =
                (status == 201
                                ? "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":{},\"status\":{\"allowed\":%s}}"
                                        .formatted(allowed)
                                : "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"Failure\",\"code\":%d}"
                                        .formatted(status))
                        .getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

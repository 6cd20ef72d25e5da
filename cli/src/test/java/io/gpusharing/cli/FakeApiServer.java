package io.gpusharing.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** An API server from which objects are read. It knows the kinds of which it was given a list. */
final class FakeApiServer implements AutoCloseable {

    static final String BUDGETS = "/apis/gpusharing.io/v1alpha1/gpubudgets";
    static final String GPUNODES = "/apis/gpusharing.io/v1alpha1/gpunodes";
    static final String NODES = "/api/v1/nodes";
    static final String PODS = "/api/v1/pods";

    /** What was asked, with its query. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    /** What came with questions. */
    final List<String> bodies = new CopyOnWriteArrayList<>();

    /** As whom and as members of what somebody asked last; empty where as themselves. */
    final List<String> impersonated = new CopyOnWriteArrayList<>();

    /** In which form answers were wanted, by what was asked, with its query. */
    final Map<String, String> wanted = new ConcurrentHashMap<>();

    private final Map<String, Map<String, String>> lists = new HashMap<>();
    private final Map<String, Integer> refused = new HashMap<>();
    private final Map<String, PassedOn> passedOn = new HashMap<>();
    private final Map<String, String> warned = new HashMap<>();
    private final HttpServer server;
    private String accepted = "";

    FakeApiServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    /** Has these objects, written as YAML, and no others of the kind. */
    void has(String list, String... objects) {
        var byName = new TreeMap<String, String>();
        for (String object : objects) {
            var parsed = Serialization.unmarshal("---\n" + object, GenericKubernetesResource.class);
            byName.put(parsed.getMetadata().getName(), Serialization.asJson(parsed));
        }
        lists.put(list, byName);
    }

    /**
     * Passes a question on to somebody who answers so.
     *
     * @param address with its query
     * @param next address of the next page; empty if there is none
     */
    void passesOn(String address, int code, String body, String next) {
        passedOn.put(address, new PassedOn(code, body, next));
    }

    private record PassedOn(int code, String body, String next) {}

    /** Tells whoever asks besides, in a header. */
    void warns(String address, String warning) {
        warned.put(address, warning);
    }

    /** Whoever shows another token is not logged in; who answers besides is asked by anybody. */
    void accepts(String token) {
        accepted = "Bearer " + token;
    }

    /** Every request for a kind is answered with this status. */
    void refuse(String list, int code) {
        refused.put(list, code);
    }

    /** What came with the last question at an address that begins so. */
    String lastBody(String address) {
        for (int i = requests.size() - 1; i >= 0; i--) {
            if (requests.get(i).startsWith(address)) {
                return bodies.get(i);
            }
        }
        throw new AssertionError("Nobody has asked " + address);
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        requests.add(exchange.getRequestURI().toString());
        String form = String.valueOf(exchange.getRequestHeaders().getFirst("Accept"));
        wanted.put(exchange.getRequestURI().toString(), form);
        UnaryOperator<String> shown =
                form.contains("as=PartialObjectMetadata")
                        ? FakeApiServer::metadata
                        : UnaryOperator.identity();
        impersonated.clear();
        for (String header : List.of("Impersonate-User", "Impersonate-Group")) {
            impersonated.addAll(exchange.getRequestHeaders().getOrDefault(header, List.of()));
        }
        bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        String path = exchange.getRequestURI().getPath();
        int code = 404;
        String body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":404}";
        for (Map.Entry<String, Map<String, String>> list : lists.entrySet()) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            if (path.equals(list.getKey())) {
                code = 200;
                body =
                        list.getValue().values().stream()
                                .map(shown)
                                .collect(Collectors.joining(",", "{\"items\":[", "]}"));
            } else if (path.equals(list.getKey() + "/" + name)
                    && list.getValue().containsKey(name)) {
                code = 200;
                body = shown.apply(list.getValue().get(name));
            }
        }
        for (Map.Entry<String, Integer> list : refused.entrySet()) {
            if (path.startsWith(list.getKey())) {
                code = list.getValue();
                body =
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d,\"message\":\"no\"}"
                                .formatted(code);
            }
        }
        String login = exchange.getRequestHeaders().getFirst("Authorization");
        if (!accepted.isEmpty() && !accepted.equals(login)) {
            code = 401;
            body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":401}";
        }
        PassedOn answer = passedOn.get(exchange.getRequestURI().toString());
        if (answer != null) {
            code = answer.code();
            body = answer.body();
            if (!answer.next().isEmpty()) {
                exchange.getResponseHeaders()
                        .add("Link", "<%s>; rel=\"next\"".formatted(answer.next()));
            }
        }
        String warning = warned.get(exchange.getRequestURI().toString());
        if (warning != null) {
            exchange.getResponseHeaders().add("Warning", warning);
        }
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** An object of which only that was asked for. */
    private static String metadata(String object) {
        return Serialization.asJson(
                Map.of(
                        "kind",
                        "PartialObjectMetadata",
                        "apiVersion",
                        "meta.k8s.io/v1",
                        "metadata",
                        Serialization.unmarshal(object, GenericKubernetesResource.class)
                                .getMetadata()));
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * An API server of a small cluster, as far as the webhook asks: while the image is built, the
 * training run of the AOT cache becomes ready on it, through TLS and reviews of its own that go the
 * whole way, as the real one does. Started from source, and no part of the image.
 *
 * <p>Argument: a directory. Into {@code ports} go its own port and a free one for the webhook's
 * health; {@code ready} appears there once the webhook says so.
 */
class TrainingApiServer {

    private static final String CONFIGURATION =
            """
            {"metadata":{"name":"gpusharing-webhook"},"webhooks":[{"name":"pods","clientConfig":{}}]}
            """;

    /** What is in the cluster, by the last part of the path that lists it. */
    private static final Map<String, String> OBJECTS =
            Map.of(
                    "gpubudgets",
                    """
                    {"metadata":{"name":"gpusharing-self-review","creationTimestamp":"2026-01-01T00:00:00Z"},
                    "spec":{"namespaces":["gpusharing-self-review"],"gpuMinutes":"1000"}}
                    """,
                    "priorityclasses",
                    """
                    {"metadata":{"name":"gpu-in-budget"},"value":0},
                    {"metadata":{"name":"gpu-over-budget"},"value":-100,"preemptionPolicy":"Never"}
                    """,
                    "nodes",
                    """
                    {"metadata":{"name":"node"},"status":{"capacity":{"tencent.com/vcuda-core":"200","tencent.com/vcuda-memory":"120"}}}
                    """,
                    "limitranges",
                    """
                    {"metadata":{"name":"limits","namespace":"default"},"spec":{"limits":[{"type":"Container","max":{"cpu":"8"}}]}}
                    """,
                    "configmaps",
                    """
                    {"metadata":{"name":"gpusharing-reporting-ca","namespace":"gpusharing-system"},"data":{"ca.crt":"trusted"}}
                    """);

    public static void main(String[] args) throws Exception {
        var server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", TrainingApiServer::answer);
        server.start();
        int health;
        try (var free = new ServerSocket(0)) {
            health = free.getLocalPort();
        }
        Files.writeString(
                Path.of(args[0], "ports"), server.getAddress().getPort() + " " + health + "\n");
        while (!ready(URI.create("http://127.0.0.1:" + health + "/readyz"))) {
            Thread.sleep(100);
        }
        Files.createFile(Path.of(args[0], "ready"));
    }

    private static boolean ready(URI probe) {
        try {
            return ((HttpURLConnection) probe.toURL().openConnection()).getResponseCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        byte[] asked = exchange.getRequestBody().readAllBytes();
        if (query.contains("watch=true")) {
            watch(exchange);
        } else if (exchange.getRequestMethod().equals("POST")) {
            send(exchange, 201, new String(asked));
        } else if (path.contains("webhookconfigurations/")) {
            send(exchange, 200, CONFIGURATION);
        } else if (path.contains("/secrets/") || path.contains("/configmaps/")) {
            send(exchange, 404, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":404}");
        } else {
            String items = OBJECTS.getOrDefault(path.substring(path.lastIndexOf('/') + 1), "");
            send(
                    exchange,
                    200,
                    "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" + items + "]}");
        }
    }

    /** Nothing ever happens. Without WebSockets, which the client tries first. */
    private static void watch(HttpExchange exchange) throws IOException {
        if (exchange.getRequestHeaders().containsKey("Upgrade")) {
            send(exchange, 200, "{}");
        } else {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush();
        }
    }

    private static void send(HttpExchange exchange, int code, String json) throws IOException {
        byte[] body = json.getBytes();
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}

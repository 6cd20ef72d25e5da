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
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An API server of a small cluster, as far as the timekeeper asks: while the image is built, the
 * training run of the AOT cache becomes ready on it, with a budget, a node and a list of pods that
 * run since some hours. Started from source, and no part of the image.
 *
 * <p>Argument: a directory. Into {@code ports} go its own port and free ones for the timekeeper's
 * health and for PostgreSQL; {@code ready} appears there once the timekeeper says so.
 */
class TrainingApiServer {

    /** Fewer teach the compiler less, which a test does not mind. */
    private static final int PODS = "short".equals(System.getenv("TRAINING")) ? 50 : 1_000;

    private static final Instant BOUND =
            Instant.now().truncatedTo(ChronoUnit.SECONDS).minus(3, ChronoUnit.HOURS);

    private static final Pattern TEXT = Pattern.compile("\"(tls\\.\\w+)\":\"([^\"]*)\"");

    private static final String KINDS =
            """
            {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"gpusharing.io/v1alpha1","resources":[
            {"name":"gpubudgets","singularName":"gpubudget","namespaced":false,"kind":"GpuBudget","verbs":["get","list","patch","watch"]},
            {"name":"gpubudgets/status","singularName":"","namespaced":false,"kind":"GpuBudget","verbs":["get","patch"]}]}
            """;
    private static final String BUDGET =
            """
            {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuBudget","metadata":{"name":"training","uid":"training",
             "resourceVersion":"1","generation":1,"creationTimestamp":"%s"},
             "spec":{"namespaces":["training"],"gpuMinutes":"1000000"}}
            """;
    private static final String NODE =
            """
            {"apiVersion":"v1","kind":"Node","metadata":{"name":"node","uid":"node","resourceVersion":"1"},
             "status":{"capacity":{"tencent.com/vcuda-core":"100000","tencent.com/vcuda-memory":"100000"}}}
            """;
    private static final String POD =
            """
            {"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%1$d","namespace":"training",
             "uid":"00000000-0000-4000-8000-%1$012d","resourceVersion":"1","creationTimestamp":"%2$s",
             "labels":{"gpusharing.io/metered":"true"},"annotations":{"gpusharing.io/standing":"InBudget"}},
             "spec":{"nodeName":"node","priorityClassName":"gpu-in-budget","priority":0,
              "containers":[{"name":"cuda","image":"cuda","env":[{"name":"A","value":"1"}],
               "resources":{"limits":{"tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"15"}}}]},
             "status":{"phase":"Running","conditions":[
              {"type":"PodScheduled","status":"True","lastTransitionTime":"%2$s"}],
              "containerStatuses":[{"name":"cuda","ready":true,"restartCount":0,"image":"cuda","imageID":"",
               "state":{"running":{"startedAt":"%2$s"}}}]}}
            """;

    public static void main(String[] args) throws Exception {
        var server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", TrainingApiServer::answer);
        server.start();
        int health;
        int database;
        try (var one = new ServerSocket(0);
                var other = new ServerSocket(0)) {
            health = one.getLocalPort();
            database = other.getLocalPort();
        }
        Files.writeString(
                Path.of(args[0], "ports"),
                "%d %d %d%n".formatted(server.getAddress().getPort(), health, database));
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
        String asked = new String(exchange.getRequestBody().readAllBytes());
        if (query.contains("watch=true")) {
            watch(exchange);
        } else if (exchange.getRequestMethod().equals("POST")) {
            send(exchange, 201, stored(asked));
        } else if (!exchange.getRequestMethod().equals("GET")) {
            send(exchange, 200, asked);
        } else if (path.matches(".*/(secrets|configmaps|leases)/.*")) {
            send(exchange, 404, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":404}");
        } else {
            send(exchange, 200, list(path));
        }
    }

    private static String list(String path) {
        return switch (path) {
            case "/apis/gpusharing.io/v1alpha1" -> KINDS;
            case "/apis/gpusharing.io/v1alpha1/gpubudgets" -> items(BUDGET.formatted(BOUND));
            case "/api/v1/nodes" -> items(NODE);
            case "/api/v1/pods" ->
                    items(
                            IntStream.range(0, PODS)
                                    .mapToObj(number -> POD.formatted(number, BOUND))
                                    .collect(Collectors.joining(",")));
            default -> items("");
        };
    }

    /** As the real one does: the text of a Secret is returned as bytes. */
    private static String stored(String object) {
        return TEXT.matcher(object)
                .replaceAll(it -> {
                    byte[] bytes = it.group(2).replace("\\n", "\n").getBytes();
                    return "\"%s\":\"%s\""
                            .formatted(it.group(1), Base64.getEncoder().encodeToString(bytes));
                })
                .replace("\"stringData\"", "\"data\"");
    }

    private static String items(String items) {
        return "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" + items + "]}";
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

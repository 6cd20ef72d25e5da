import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An API server of a small cluster, as far as the extender asks: while the image is built, the
 * training run of the AOT cache becomes ready on it, and then answers questions as a kube-scheduler
 * asks them until the GPUs of all nodes are taken. Started from source, and no part of the image.
 *
 * <p>Arguments: a directory, and a file with a question. Into {@code ports} of the directory go its
 * own port and two free ones for the extender's questions and health; {@code trained} appears there
 * at the end.
 */
class TrainingApiServer {

    /** Fewer teach the compiler less, which a test does not mind. */
    private static final int NODES = "short".equals(System.getenv("TRAINING")) ? 5 : 200;

    private static final int GPUS = 8;

    /** Half a GPU each; the last ones find no room. */
    private static final int PODS = NODES * GPUS * 2 + 200;

    private static final Pattern UID = Pattern.compile("\"uid\":\"[^\"]*\"");
    private static final Pattern NODE_NAMES = Pattern.compile("\"NodeNames\":\\[[^]]*]");
    private static final Pattern CHOSEN = Pattern.compile("\"NodeNames\":\\[\"([^\"]+)\"]");

    private static final String GPU =
            "{\"uuid\":\"GPU-%d-%d\",\"memoryMiB\":15360,\"mig\":false,\"health\":\"Healthy\",\"mode\":\"Idle\",\"grants\":[]}";
    private static final String NODE =
            """
            {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuNode","metadata":{"name":"node-%1$d","uid":"%1$d","resourceVersion":"1"},
             "status":{"tier":"TimeSlice","gpuCount":8,"unhealthyCount":0,"gpus":[%2$s],"refused":[]}}
            """;

    public static void main(String[] args) throws Exception {
        var server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", TrainingApiServer::answer);
        server.start();
        int questions;
        int health;
        try (var one = new ServerSocket(0);
                var another = new ServerSocket(0)) {
            questions = one.getLocalPort();
            health = another.getLocalPort();
        }
        Files.writeString(
                Path.of(args[0], "ports"),
                "%d %d %d%n".formatted(server.getAddress().getPort(), questions, health));
        while (!ready(URI.create("http://127.0.0.1:" + health + "/readyz"))) {
            Thread.sleep(100);
        }
        ask(URI.create("http://127.0.0.1:" + questions), Files.readString(Path.of(args[1])));
        Files.createFile(Path.of(args[0], "trained"));
    }

    private static void ask(URI extender, String question) throws Exception {
        String nodes =
                IntStream.range(0, NODES)
                        .mapToObj(node -> "\"node-" + node + "\"")
                        .collect(Collectors.joining(",", "\"NodeNames\":[", "]"));
        String all = NODE_NAMES.matcher(question).replaceFirst(nodes);
        try (var client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            for (int pod = 0; pod < PODS; pod++) {
                String uid = UUID.randomUUID().toString();
                String answer =
                        post(
                                client,
                                extender.resolve("/filter"),
                                UID.matcher(all).replaceFirst("\"uid\":\"" + uid + "\""));
                var chosen = CHOSEN.matcher(answer);
                if (!chosen.find()) {
                    if (pod < NODES * GPUS * 2) {
                        throw new IOException("pod " + pod + " found no node: " + answer);
                    }
                    continue;
                }
                String bound =
                        post(
                                client,
                                extender.resolve("/bind"),
                                "{\"PodName\":\"train\",\"PodNamespace\":\"default\",\"PodUID\":\"%s\",\"Node\":\"%s\"}"
                                        .formatted(uid, chosen.group(1)));
                if (!bound.contains("\"Error\":\"\"")) {
                    throw new IOException("not bound: " + bound);
                }
            }
        }
    }

    private static String post(HttpClient client, URI where, String json) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(where)
                                .header("Content-Type", "application/json")
                                .POST(BodyPublishers.ofString(json))
                                .build(),
                        BodyHandlers.ofString())
                .body();
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
            send(exchange, 201, asked);
        } else {
            send(
                    exchange,
                    200,
                    "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":["
                            + (path.endsWith("/gpunodes") ? gpuNodes() : "")
                            + "]}");
        }
    }

    private static String gpuNodes() {
        return IntStream.range(0, NODES)
                .mapToObj(node ->
                        NODE.formatted(
                                node,
                                IntStream.range(0, GPUS)
                                        .mapToObj(gpu -> GPU.formatted(node, gpu))
                                        .collect(Collectors.joining(","))))
                .collect(Collectors.joining(","));
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

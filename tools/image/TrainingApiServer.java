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
 * An API server of a small cluster, as far as webhook and timekeeper ask: while an image is built,
 * the training run of its AOT cache becomes ready on it, through TLS and reviews of its own as the
 * real one does. Started from source, and no part of an image.
 *
 * <p>Arguments: a directory, and the service's cluster. Into the directory's {@code ports} go its
 * own port and a free one for the service's health; {@code ready} appears there once the service
 * says so.
 *
 * <p>The cluster is a folder laid out as the API's paths: {@code api/v1/nodes.json} is the answer to
 * {@code /api/v1/nodes}, an array the items of a list. An item with NUMBER in it stands for a
 * thousand, HOURS-AGO for an instant. What has no file is an empty list, or not there.
 */
class TrainingApiServer {

    private static final Pattern SECRET_TEXT = Pattern.compile("\"(tls\\.\\w+)\":\"([^\"]*)\"");
    private static final String HOURS_AGO =
            Instant.now().truncatedTo(ChronoUnit.SECONDS).minus(3, ChronoUnit.HOURS).toString();

    private final Path cluster;

    private TrainingApiServer(Path cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] args) throws Exception {
        var server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", new TrainingApiServer(Path.of(args[1]))::answer);
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

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        String asked = new String(exchange.getRequestBody().readAllBytes());
        Path known = cluster.resolve(path.substring(1) + ".json");
        if (query.contains("watch=true")) {
            watch(exchange);
        } else if (exchange.getRequestMethod().equals("POST")) {
            send(exchange, 201, stored(asked));
        } else if (Files.exists(known)) {
            send(exchange, 200, read(known));
        } else if (!exchange.getRequestMethod().equals("GET")) {
            send(exchange, 200, asked);
        } else if (path.matches(".*/(secrets|configmaps|leases)/.*")) {
            send(exchange, 404, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":404}");
        } else {
            send(exchange, 200, list(""));
        }
    }

    private static String read(Path file) throws IOException {
        String text = Files.readString(file).strip().replace("HOURS-AGO", HOURS_AGO);
        if (!text.startsWith("[")) {
            return text;
        }
        String items = text.substring(1, text.length() - 1);
        return list(
                items.contains("NUMBER")
                        ? IntStream.range(1000, 2000)
                                .mapToObj(number -> items.replace("NUMBER", "" + number))
                                .collect(Collectors.joining(","))
                        : items);
    }

    private static String list(String items) {
        return "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" + items + "]}";
    }

    /** As the real one does: what a Secret brings as text is told back as bytes. */
    private static String stored(String object) {
        return SECRET_TEXT
                .matcher(object)
                .replaceAll(it -> {
                    byte[] bytes = it.group(2).replace("\\n", "\n").getBytes();
                    return "\"%s\":\"%s\""
                            .formatted(it.group(1), Base64.getEncoder().encodeToString(bytes));
                })
                .replace("\"stringData\"", "\"data\"");
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

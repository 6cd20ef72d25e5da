import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * An API server of a small cluster, as far as the webhook asks: while the image is built, the
 * training run of the AOT cache becomes ready on it, through TLS and reviews of its own that go the
 * whole way, and then answers reviews for a while, as the real one does. Started from source, and
 * no part of the image.
 *
 * <p>Arguments: a directory, and a file with a review. Into {@code ports} of the directory go its
 * own port and two free ones for the webhook's reviews and health; {@code trained} appears there at
 * the end.
 */
class TrainingApiServer {

    private static final String CONFIGURATION =
            """
            {"metadata":{"name":"gpusharing-webhook"},"webhooks":[{"name":"pods","clientConfig":{}}]}
            """;

    /**
     * The cache keeps how often and by which ways code was used. With less than this, the compiler
     * would take the first seconds of a process for what it is like. A test does not mind.
     */
    private static final int REVIEWS = "short".equals(System.getenv("TRAINING")) ? 1_000 : 40_000;

    private static final int CONNECTIONS = 4;

    private static final Pattern WRITTEN_BUNDLE =
            Pattern.compile("caBundle\",\"value\":\"([^\"]+)\"");

    /** What the webhook writes into its configuration, for API servers to trust. */
    private static final CompletableFuture<byte[]> caBundle = new CompletableFuture<>();

    /** What is in the cluster, by the last part of the path that lists it. */
    private static final Map<String, String> OBJECTS =
            Map.of(
                    "gpubudgets",
                    """
                    {"metadata":{"name":"gpusharing-self-review","creationTimestamp":"2026-01-01T00:00:00Z"},
                    "spec":{"namespaces":["gpusharing-self-review","training"],"gpuMinutes":"1000"}}
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
                    "resourcequotas",
                    """
                    {"metadata":{"name":"quota","namespace":"default"},"spec":{"hard":{"limits.cpu":"8"}},
                    "status":{"hard":{"limits.cpu":"8"},"used":{"limits.cpu":"1"}}}
                    """,
                    "configmaps",
                    """
                    {"metadata":{"name":"gpusharing-reporting-ca","namespace":"gpusharing-system"},"data":{"ca.crt":"%s"}}
                    """
                            // As long as a certificate.
                            .formatted(("trusted ".repeat(8) + "\\n").repeat(9)));

    public static void main(String[] args) throws Exception {
        var server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", TrainingApiServer::answer);
        server.start();
        int reviews;
        int health;
        try (var one = new ServerSocket(0);
                var another = new ServerSocket(0)) {
            reviews = one.getLocalPort();
            health = another.getLocalPort();
        }
        Files.writeString(
                Path.of(args[0], "ports"),
                "%d %d %d\n".formatted(server.getAddress().getPort(), reviews, health));
        while (!ready(URI.create("http://127.0.0.1:" + health + "/readyz"))) {
            Thread.sleep(100);
        }
        ask(
                HttpRequest.newBuilder(
                                URI.create("https://127.0.0.1:" + reviews + "/mutate?timeout=3s"))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(asSent(Path.of(args[1]))))
                        .build());
        Files.createFile(Path.of(args[0], "trained"));
    }

    /** A connection may end with a review on its way, as where a certificate is renewed just then. */
    private static HttpResponse<String> answered(HttpClient client, HttpRequest review)
            throws Exception {
        try {
            return client.send(review, BodyHandlers.ofString());
        } catch (IOException e) {
            return client.send(review, BodyHandlers.ofString());
        }
    }

    /** An API server writes no line breaks. */
    private static String asSent(Path review) throws IOException {
        return Files.readAllLines(review).stream().map(String::strip).collect(Collectors.joining());
    }

    private static void ask(HttpRequest review) throws Exception {
        try (var client =
                        HttpClient.newBuilder()
                                .version(HttpClient.Version.HTTP_1_1)
                                .sslContext(trusting(caBundle.get()))
                                .build();
                var connections = Executors.newFixedThreadPool(CONNECTIONS)) {
            var asking = new ArrayList<Future<?>>();
            for (int i = 0; i < CONNECTIONS; i++) {
                asking.add(connections.submit(() -> {
                    for (int j = 0; j < REVIEWS / CONNECTIONS; j++) {
                        HttpResponse<String> answer = answered(client, review);
                        if (!answer.body().contains("\"patch\"")) {
                            throw new IOException("not completed: " + answer + answer.body());
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> one : asking) {
                one.get();
            }
        }
    }

    private static SSLContext trusting(byte[] bundle) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (var certificate :
                CertificateFactory.getInstance("X.509")
                        .generateCertificates(new ByteArrayInputStream(bundle))) {
            store.setCertificateEntry("ca-" + store.size(), certificate);
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
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
        var bundle = WRITTEN_BUNDLE.matcher(asked);
        if (bundle.find()) {
            caBundle.complete(Base64.getDecoder().decode(bundle.group(1)));
        }
        if (query.contains("watch=true")) {
            watch(exchange);
        } else if (exchange.getRequestMethod().equals("POST")) {
            send(exchange, 201, asked);
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

package io.gpusharing.deviceplugin.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import io.gpusharing.deviceplugin.cluster.ApiServer.Body.Refused;
import io.gpusharing.deviceplugin.cluster.ApiServer.Body.Wanted;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * The cluster's API server, asked as the pod's service account. Its token and its CA are read again
 * when they are needed, because kubelet renews them.
 *
 * <p>A call that the API server refuses ends with an {@link ApiException}; one that does not reach
 * it, or is not answered in time, with another {@link IOException}. Nothing is tried twice here.
 */
public final class ApiServer implements AutoCloseable {

    private static final String NAME = "gpusharing-device-plugin";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration CONNECT = Duration.ofSeconds(10);

    /** An answer that is no Status, for instance a proxy's page, is shown up to here. */
    private static final int LONGEST_SHOWN = 200;

    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient client;
    private final String base;
    private final Path token;
    private final Duration patience;

    /** Makes something of an answer while it is read. */
    @FunctionalInterface
    public interface Parser<T> {
        T parse(JsonReader json) throws IOException;
    }

    /** What came back. */
    sealed interface Body<T> {

        record Wanted<T>(T value) implements Body<T> {}

        record Refused<T>(String text) implements Body<T> {}
    }

    /**
     * The one of the cluster that this program's pod runs in.
     *
     * @param environment the process's
     * @param account where the pod's service account is mounted
     * @throws IllegalStateException if this is no pod
     */
    public static ApiServer inCluster(Map<String, String> environment, Path account) {
        return new ApiServer(
                address(environment), account.resolve("token"), account.resolve("ca.crt"));
    }

    static URI address(Map<String, String> environment) {
        String host = environment.get("KUBERNETES_SERVICE_HOST");
        String port = environment.get("KUBERNETES_SERVICE_PORT");
        if (host == null || port == null) {
            throw new IllegalStateException(
                    "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this program runs in a pod");
        }
        return URI.create(
                "https://%s:%s".formatted(host.indexOf(':') < 0 ? host : "[" + host + "]", port));
    }

    /**
     * @param token the file with the token
     * @param ca the PEM file of the only certificates to trust
     */
    public ApiServer(URI base, Path token, Path ca) {
        this(base, token, ca, PATIENCE);
    }

    /**
     * @param patience for a whole answer, or for the beginning of a stream
     */
    ApiServer(URI base, Path token, Path ca, Duration patience) {
        this.base = base.toString().replaceAll("/+$", "");
        this.token = token;
        this.patience = patience;
        this.client =
                HttpClient.newBuilder()
                        // The watch has a connection of its own; of HTTP/2 only its buffers would
                        // be left.
                        .version(HttpClient.Version.HTTP_1_1)
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .proxy(HttpClient.Builder.NO_PROXY)
                        .connectTimeout(CONNECT.compareTo(patience) < 0 ? CONNECT : patience)
                        .executor(calls)
                        .sslContext(tls(ca))
                        .build();
    }

    private static SSLContext tls(Path ca) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new CaFile(ca)}, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("This Java has no TLS", e);
        }
    }

    /**
     * Reads an object.
     *
     * @param path with its query, for instance {@code /api/v1/nodes/gpu-1}
     */
    public <T> T get(String path, Parser<T> parser) throws IOException, InterruptedException {
        byte[] answer =
                call("GET", path, request(path).GET().build(), BodySubscribers::ofByteArray);
        try (JsonReader json = json(new ByteArrayInputStream(answer))) {
            return parser.parse(json);
        } catch (IllegalStateException | JsonParseException e) {
            throw new IOException("GET %s was not answered as expected".formatted(path), e);
        }
    }

    /** Creates an object. */
    public void post(String path, JsonElement body) throws IOException, InterruptedException {
        HttpRequest request =
                request(path)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body.toString()))
                        .build();
        call("POST", path, request, ApiServer::drained);
    }

    /**
     * Changes the members of an object that {@code body} names, and takes away those that are null
     * there.
     */
    public void mergePatch(String path, JsonElement body) throws IOException, InterruptedException {
        HttpRequest request =
                request(path)
                        .header("Content-Type", "application/merge-patch+json")
                        .method("PATCH", BodyPublishers.ofString(body.toString()))
                        .build();
        call("PATCH", path, request, ApiServer::drained);
    }

    /**
     * Creates an object of this name, or makes its members what {@code body} says. Unlike creation
     * by {@link #post}, RBAC can limit this to a name.
     */
    public void apply(String path, JsonElement body) throws IOException, InterruptedException {
        String query = "?force=true&fieldManager=" + NAME;
        HttpRequest request =
                request(path + query)
                        .header("Content-Type", "application/apply-patch+yaml")
                        .method("PATCH", BodyPublishers.ofString(body.toString()))
                        .build();
        call("PATCH", path, request, ApiServer::drained);
    }

    /**
     * Begins to read a list or a watch. The API server's patience with us is endless from here on:
     * who reads also watches the time, and closes the stream.
     */
    public InputStream open(String path) throws IOException, InterruptedException {
        return call("GET", path, request(path).GET().build(), BodySubscribers::ofInputStream);
    }

    /** Reads what the API server writes; several values after each other, as a watch has them. */
    static JsonReader json(InputStream bytes) {
        var json = new JsonReader(new InputStreamReader(bytes, UTF_8));
        json.setStrictness(Strictness.LENIENT);
        // Passing over a value takes no stack, and a tenant nests managed fields as deep as it
        // likes.
        json.setNestingLimit(Integer.MAX_VALUE);
        return json;
    }

    private HttpRequest.Builder request(String path) throws IOException {
        String bearer;
        try {
            bearer = Files.readString(token).strip();
        } catch (IOException e) {
            throw new IOException("Cannot read the service account's token from " + token, e);
        }
        return HttpRequest.newBuilder(URI.create(base + path))
                .header("Accept", "application/json")
                .header("User-Agent", NAME)
                .header("Authorization", "Bearer " + bearer);
    }

    private <T> T call(
            String verb, String path, HttpRequest request, Supplier<BodySubscriber<T>> wanted)
            throws IOException, InterruptedException {
        BodyHandler<Body<T>> handler =
                head ->
                        head.statusCode() / 100 == 2
                                ? BodySubscribers.mapping(wanted.get(), Wanted::new)
                                : BodySubscribers.mapping(
                                        BodySubscribers.ofString(UTF_8), Refused::new);
        HttpResponse<Body<T>> answer = answer(verb, path, client.sendAsync(request, handler));
        return switch (answer.body()) {
            case Wanted<T>(T value) -> value;
            case Refused<T>(String text) ->
                    throw new ApiException(
                            answer.statusCode(),
                            "The API server answered %d for %s %s: %s"
                                    .formatted(answer.statusCode(), verb, path, reason(text)));
        };
    }

    /** Waits for it. The request's own timeout would not cover the body. */
    private <T> HttpResponse<T> answer(
            String verb, String path, CompletableFuture<HttpResponse<T>> answer)
            throws IOException, InterruptedException {
        try {
            return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            var late =
                    new HttpTimeoutException(
                            "The API server did not answer %s %s within %s"
                                    .formatted(verb, path, patience));
            late.initCause(e);
            throw late;
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            // A refused connection has no message of its own.
            throw new IOException(
                    "%s %s%s did not reach the API server: %s"
                            .formatted(verb, base, path, cause.toString()),
                    cause);
        } finally {
            // Only one that is still under way notices.
            answer.cancel(true);
        }
    }

    private static BodySubscriber<String> drained() {
        return BodySubscribers.replacing("");
    }

    private static String reason(String body) {
        try {
            if (JsonParser.parseString(body) instanceof JsonObject status
                    && status.get("message") instanceof JsonPrimitive message) {
                return message.getAsString();
            }
        } catch (JsonParseException | IllegalStateException | UnsupportedOperationException e) {
            // Then it is shown as it came.
        }
        return body.length() > LONGEST_SHOWN ? body.substring(0, LONGEST_SHOWN) + "…" : body;
    }

    /** Ends whatever is under way. */
    @Override
    public void close() {
        client.shutdownNow();
        calls.shutdownNow();
    }
}

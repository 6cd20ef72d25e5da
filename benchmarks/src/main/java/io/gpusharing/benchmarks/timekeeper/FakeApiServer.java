package io.gpusharing.benchmarks.timekeeper;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * As much of an API server as the timekeeper asks: lists in pages and watches of pods, by WebSocket
 * as a real one has them, and of everything else just enough. No real one makes five hundred pods
 * start and end a second on two cores.
 */
final class FakeApiServer extends HttpServlet implements AutoCloseable {

    private static final Logger TOMCAT = Logger.getLogger("org.apache");
    private static final JsonMapper JSON = new JsonMapper();
    private static final String BUDGETS = "/apis/gpusharing.io/v1alpha1/gpubudgets";
    private static final String KINDS =
            """
            {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"gpusharing.io/v1alpha1","resources":[
            {"name":"gpubudgets","singularName":"gpubudget","namespaced":false,"kind":"GpuBudget","verbs":["get","list","patch","watch"]},
            {"name":"gpubudgets/status","singularName":"","namespaced":false,"kind":"GpuBudget","verbs":["get","patch"]}]}
            """;
    private static final Pattern NAMED =
            Pattern.compile(
                    "(?:/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/[a-z]+/(?<name>[^/]+)(?:/status)?");

    private static final int OTHERS = Integer.getInteger("others", 40_000);

    private final Tomcat server = new Tomcat();
    private final transient Map<String, String> objects = new ConcurrentHashMap<>();
    private final transient List<Watch> watches = new CopyOnWriteArrayList<>();
    private final transient List<Watch> budgetWatches = new CopyOnWriteArrayList<>();
    private transient volatile StatusListener statuses = (budget, generation) -> {};

    /** Budgets are as old as a cluster that has just been installed: no period has ended. */
    private final Instant made =
            Instant.now().minus(Duration.ofDays(1)).truncatedTo(ChronoUnit.SECONDS);

    private final AtomicInteger lists = new AtomicInteger();
    private final AtomicLong statusWrites = new AtomicLong();
    private volatile List<String> pods = List.of();
    private volatile long listedVersion = 1;

    /**
     * @param jwks the keys that tokens are signed with
     * @param folder where Tomcat may work
     */
    FakeApiServer(String jwks, Path folder) {
        objects.put("/openid/v1/jwks", jwks);
        objects.put("/.well-known/openid-configuration", "{\"issuer\":\"" + Tokens.ISSUER + "\"}");
        TOMCAT.setLevel(Level.WARNING);
        var connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        server.setBaseDir(folder.toString());
        server.setConnector(connector);
        var context = server.addContext("", folder.toString());
        Tomcat.addServlet(context, "api", this);
        context.addServletMappingDecoded("/*", "api");
        try {
            server.start();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        }
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.getConnector().getLocalPort());
    }

    /**
     * Publishes by which authority the certificates are signed with which questions are passed on.
     */
    void passesOnBy(String authority) {
        String name = "extension-apiserver-authentication";
        ObjectNode map = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "ConfigMap");
        map.putObject("metadata").put("name", name);
        map.putObject("data")
                .put("requestheader-client-ca-file", authority)
                .put("requestheader-allowed-names", "[\"front-proxy-client\"]")
                .put("requestheader-username-headers", "[\"X-Remote-User\"]")
                .put("requestheader-group-headers", "[\"X-Remote-Group\"]")
                .put("requestheader-extra-headers-prefix", "[\"X-Remote-Extra-\"]");
        objects.put(
                "/api/v1/namespaces/kube-system/configmaps/" + name, JSON.writeValueAsString(map));
        String service = "v1alpha1.usage.gpusharing.io";
        objects.put(
                "/apis/apiregistration.k8s.io/v1/apiservices/" + service,
                "{\"apiVersion\":\"apiregistration.k8s.io/v1\",\"kind\":\"APIService\",\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"1\"},\"spec\":{}}"
                        .formatted(service));
    }

    /** The authority by which the timekeeper is known, as it publishes it. */
    String authorityOfTimekeeper() {
        String map =
                object("/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-reporting-ca");
        return JSON.readTree(map).path("data").path("ca.crt").asString();
    }

    /** What a list shows from now on. */
    void list(List<String> present, long version) {
        pods = List.copyOf(present);
        listedVersion = version;
    }

    /** Called with the generation of the budget that a written status speaks of. */
    interface StatusListener {
        void published(String budget, long generation);
    }

    void onStatus(StatusListener listener) {
        statuses = listener;
    }

    /** A budget gets another amount; its list shows none of that. */
    void edit(int number, int generation) throws IOException {
        byte[] event =
                ("{\"type\":\"MODIFIED\",\"object\":" + budget(number, generation) + "}")
                        .getBytes(StandardCharsets.UTF_8);
        for (Watch watch : budgetWatches) {
            watch.send(event);
        }
    }

    /** How many watches of pods are open. */
    int watching() {
        return watches.size();
    }

    long statusWrites() {
        return statusWrites.get();
    }

    /** Sends an event to all watches of pods. */
    void send(String type, String pod) throws IOException {
        byte[] event =
                ("{\"type\":\"" + type + "\",\"object\":" + pod + "}")
                        .getBytes(StandardCharsets.UTF_8);
        for (Watch watch : watches) {
            watch.send(event);
        }
    }

    private String object(String path) {
        return objects.getOrDefault(path, "");
    }

    @Override
    public void close() {
        try {
            // All of it would look for leaks, of a process that ends.
            server.getConnector().stop();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        String path = request.getRequestURI();
        String query =
                URLDecoder.decode(String.valueOf(request.getQueryString()), StandardCharsets.UTF_8);
        switch (request.getMethod()) {
            case "GET" -> {
                if (request.getHeader("Upgrade") == null) {
                    get(response, path, query);
                } else {
                    Watch watch = Watch.open(request, response);
                    if (path.equals("/api/v1/pods")) {
                        // The old timekeeper's watch, if there was one, is dead.
                        watches.clear();
                        watches.add(watch);
                    } else if (path.equals(BUDGETS)) {
                        budgetWatches.clear();
                        budgetWatches.add(watch);
                    }
                }
            }
            case "POST" -> post(request, response, path);
            default -> {
                String body = stored(request, path);
                if (path.endsWith("/status")) {
                    statusWrites.incrementAndGet();
                    published(path, body);
                }
                write(response, 200, body);
            }
        }
    }

    private void get(HttpServletResponse response, String path, String query) throws IOException {
        switch (path) {
            case "/api/v1/pods" -> {
                if (query.contains("!=")) {
                    others(response, query);
                } else {
                    page(response, query);
                }
            }
            case "/api/v1/nodes" ->
                    items(
                            response,
                            "v1",
                            "NodeList",
                            IntStream.range(0, MeteredPod.NODES)
                                    .mapToObj(FakeApiServer::node)
                                    .toList());
            case "/apis/gpusharing.io/v1alpha1" -> write(response, 200, KINDS);
            case BUDGETS ->
                    items(
                            response,
                            "gpusharing.io/v1alpha1",
                            "GpuBudgetList",
                            IntStream.range(0, MeteredPod.TEAMS)
                                    .mapToObj(number -> budget(number, 1))
                                    .toList());
            case "/apis/gpusharing.io/v1alpha1/gpugrants" ->
                    items(response, "gpusharing.io/v1alpha1", "GpuGrantList", List.of());
            default -> {
                String object = objects.get(path);
                if (object != null) {
                    write(response, 200, object);
                } else if (NAMED.matcher(path).matches() && !path.endsWith("s")) {
                    write(response, 404, "{\"kind\":\"Status\",\"code\":404}");
                } else if (path.matches(".*/(secrets|configmaps)/.+")) {
                    write(response, 404, "{\"kind\":\"Status\",\"code\":404}");
                } else {
                    items(response, "v1", "List", List.of());
                }
            }
        }
    }

    /** The pods that ask for no GPU, so many that they are the larger part of a cluster. */
    private void others(HttpServletResponse response, String query) throws IOException {
        Span span = Span.of(query, OTHERS);
        String items =
                IntStream.range(span.from(), span.to())
                        .mapToObj(MeteredPod::without)
                        .collect(Collectors.joining(","));
        lists.incrementAndGet();
        write(response, 200, span.list(listedVersion, items));
    }

    private void page(HttpServletResponse response, String query) throws IOException {
        List<String> all = pods;
        Span span = Span.of(query, all.size());
        lists.incrementAndGet();
        write(
                response,
                200,
                span.list(listedVersion, String.join(",", all.subList(span.from(), span.to()))));
    }

    /** What a page holds of all there is. */
    private record Span(int from, int to, int all) {

        static Span of(String query, int all) {
            int from = 0;
            int limit = all;
            for (String parameter : query.split("&", -1)) {
                String[] pair = parameter.split("=", 2);
                if (pair[0].equals("continue") && pair.length == 2 && !pair[1].isEmpty()) {
                    from = Integer.parseInt(pair[1]);
                } else if (pair[0].equals("limit") && pair.length == 2) {
                    limit = Integer.parseInt(pair[1]);
                }
            }
            return new Span(from, Math.min(all, from + limit), all);
        }

        String list(long version, String items) {
            return "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"%d\",\"continue\":\"%s\"},\"items\":[%s]}"
                    .formatted(version, to < all ? String.valueOf(to) : "", items);
        }
    }

    private static void items(
            HttpServletResponse response, String api, String kind, List<String> items)
            throws IOException {
        write(
                response,
                200,
                "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[%s]}"
                        .formatted(api, kind, String.join(",", items)));
    }

    private void post(HttpServletRequest request, HttpServletResponse response, String path)
            throws IOException {
        ObjectNode object = (ObjectNode) JSON.readTree(request.getInputStream());
        String name = object.path("metadata").path("name").asString("");
        if (object.path("stringData").isObject()) {
            ObjectNode data = object.putObject("data");
            object.path("stringData")
                    .properties()
                    .forEach(it ->
                            data.put(
                                    it.getKey(),
                                    Base64.getEncoder()
                                            .encodeToString(
                                                    it.getValue()
                                                            .asString()
                                                            .getBytes(StandardCharsets.UTF_8))));
            object.remove("stringData");
        }
        // Every caller is somebody, and may.
        if (path.endsWith("/tokenreviews")) {
            object.putObject("status")
                    .put("authenticated", true)
                    .putObject("user")
                    .put("username", "somebody");
        } else if (path.endsWith("/subjectaccessreviews")) {
            object.putObject("status").put("allowed", true);
        }
        String stored = JSON.writeValueAsString(object);
        if (!path.endsWith("/events") && !path.endsWith("reviews")) {
            objects.put(path + "/" + name, stored);
        }
        write(response, 201, stored);
    }

    private String stored(HttpServletRequest request, String path) throws IOException {
        String body = new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!path.endsWith("/status")) {
            objects.put(path, body);
        }
        return body;
    }

    private static void write(HttpServletResponse response, int status, String body)
            throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("application/json");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }

    private static String node(int number) {
        return """
        {"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%d","uid":"node-%1$d","resourceVersion":"1"},"status":{"capacity":{"cpu":"64","tencent.com/vcuda-core":"10000","tencent.com/vcuda-memory":"6000"}}}\
        """
                .formatted(number);
    }

    /** The status is a merge patch, in which a status that says no generation changes none. */
    private void published(String path, String body) {
        String[] parts = path.split("/", -1);
        long generation = JSON.readTree(body).at("/status/observedGeneration").asLong(0);
        statuses.published(parts[parts.length - 2], generation);
    }

    private String budget(int number, int generation) {
        return """
        {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuBudget","metadata":{"name":"team-%d","uid":"budget-%1$d","resourceVersion":"%3$d","generation":%3$d,"creationTimestamp":"%2$s"},"spec":{"namespaces":["team-%1$d"],"gpuMinutes":"%4$d"}}\
        """
                .formatted(number, made, generation, 100_000_000L + generation);
    }
}

package io.gpusharing.scheduler.testing;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An API server that records its requests. It creates whatever it is given, each name once, and
 * refuses what a test asks it to refuse.
 */
public final class RecordingApiServer implements AutoCloseable {

    private static final Pattern NAME =
            Pattern.compile("\"metadata\":\\{[^}]*\"name\":\"([^\"]+)\"");

    private static final Pattern VERSION = Pattern.compile("\"resourceVersion\":\"([^\"]+)\"");

    private static final String RESERVATIONS = "/gpureservations";

    public final List<Request> requests = new CopyOnWriteArrayList<>();

    /** Those that were not refused. */
    public final List<Request> taken = new CopyOnWriteArrayList<>();

    private final Map<String, Integer> refused = new ConcurrentHashMap<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final Map<String, String> stored = new ConcurrentHashMap<>();
    private final Set<String> created = ConcurrentHashMap.newKeySet();
    private final FakeApiServer server = new FakeApiServer(this::answer);
    private final KubernetesClient client = server.client();

    /** A client of it, closed with it. */
    public KubernetesClient client() {
        return client;
    }

    /** Every path that ends so is answered with this status. */
    public void refuse(String end, int code) {
        refused.put(end, code);
    }

    /** Every GET of a path that ends so is answered with this. */
    public void answer(String end, String json) {
        answers.put(end, json);
    }

    /** Every GET of the one object whose path ends so is answered with this. */
    public void store(String end, String json) {
        stored.put(end, json);
    }

    /** The requests for paths that end so. */
    public List<Request> to(String end) {
        return requests.stream().filter(it -> it.path().endsWith(end)).toList();
    }

    /** What a GET of such a path is answered, if it is not refused. */
    String listed(String end) {
        return answers.getOrDefault(end, Answer.list("").body());
    }

    /** With which status such a path is refused; 0 if it is not. */
    int refusal(String end) {
        return refused.getOrDefault(end, 0);
    }

    private Answer answer(Request request) {
        requests.add(request);
        int code =
                refused.entrySet().stream()
                        .filter(it -> request.path().endsWith(it.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElseGet(() -> code(request));
        if (code >= 300) {
            return Answer.status(code, "no");
        }
        taken.add(request);
        return new Answer(code, request.method().equals("GET") ? text(request) : request.body());
    }

    private int code(Request request) {
        if (request.method().equals("GET")) {
            return request.path().contains(RESERVATIONS + "/") && find(request).isEmpty()
                    ? 404
                    : 200;
        }
        if (request.path().contains(RESERVATIONS)) {
            return write(request);
        }
        return request.method().equals("POST") ? create(request) : 200;
    }

    /** Reservations have versions: one is written where there is none, or in place of that seen. */
    private synchronized int write(Request request) {
        String path = RESERVATIONS + "/" + group(NAME, request.body());
        String kept = stored.get(path);
        String seen = group(VERSION, request.body());
        boolean isNew = request.method().equals("POST");
        if (kept != null && (isNew || !List.of("", group(VERSION, kept)).contains(seen))) {
            return 409;
        }
        stored.put(
                path,
                request.body()
                        .replaceFirst(VERSION.pattern() + ",?", "")
                        .replaceFirst(
                                "\"metadata\":\\{",
                                "\"metadata\":{\"resourceVersion\":\"%d\","
                                        .formatted(requests.size())));
        return isNew ? 201 : 200;
    }

    private static String group(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }

    private int create(Request request) {
        Matcher name = NAME.matcher(request.body());
        boolean fresh = !name.find() || created.add(request.path() + "/" + name.group(1));
        return fresh ? 201 : 409;
    }

    private String text(Request request) {
        return find(request).orElse(Answer.list("").body());
    }

    private Optional<String> find(Request request) {
        return Stream.of(stored, answers)
                .flatMap(all -> all.entrySet().stream())
                .filter(it -> request.path().endsWith(it.getKey()))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}

package io.gpusharing.scheduler.testing;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.util.List;
import java.util.Map;
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
                        .orElseGet(() -> request.method().equals("POST") ? create(request) : 200);
        if (code >= 300) {
            return Answer.status(code, "no");
        }
        taken.add(request);
        return new Answer(code, request.method().equals("GET") ? text(request) : request.body());
    }

    private int create(Request request) {
        Matcher name = NAME.matcher(request.body());
        boolean fresh = !name.find() || created.add(request.path() + "/" + name.group(1));
        return fresh ? 201 : 409;
    }

    private String text(Request request) {
        return Stream.of(stored, answers)
                .flatMap(all -> all.entrySet().stream())
                .filter(it -> request.path().endsWith(it.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(Answer.list("").body());
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}

package io.gpusharing.scheduler.evicting;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A cluster's API server with pods, namespaces, Events and GpuEvictions, as far as the evictor asks
 * for them. It evicts pods as Kubernetes does, dates what it does, and refuses a status that names
 * an older version.
 */
final class FakeCluster implements AutoCloseable {

    static final String NODE = "gpu-1";

    private static final JsonMapper JSON = new JsonMapper();
    private static final String EVICTIONS = "/apis/gpusharing.io/v1alpha1/gpuevictions";

    final List<Request> requests = new CopyOnWriteArrayList<>();

    /** Pods that were told to end, as often as they were while they ran. */
    final List<String> ended = new CopyOnWriteArrayList<>();

    final List<JsonNode> events = new CopyOnWriteArrayList<>();

    /** Events of others, as JSON: whoever asks for any is answered all of them. */
    final List<String> told = new CopyOnWriteArrayList<>();

    private final Map<String, ObjectNode> pods = new TreeMap<>();
    private final Map<String, ObjectNode> namespaces = new TreeMap<>();
    private final Map<String, ObjectNode> evictions = new TreeMap<>();
    private final List<Hook> hooks = new CopyOnWriteArrayList<>();
    private final Clock clock;
    private final FakeApiServer server = new FakeApiServer(this::answer);
    private final KubernetesClient client = server.client();
    private int version;

    /** What is done instead of an answer. */
    interface Instead {

        /** Another answer; null for the usual one. */
        @Nullable Answer answer(Request request);
    }

    private record Hook(Predicate<Request> when, Instead instead) {}

    FakeCluster(Clock clock) {
        this.clock = clock;
    }

    KubernetesClient client() {
        return client;
    }

    /**
     * From now on such requests are answered otherwise; the last one that was said counts first.
     */
    void on(Predicate<Request> when, Instead instead) {
        hooks.addFirst(new Hook(when, instead));
    }

    /** The same for the next such request alone. */
    void once(Predicate<Request> when, Instead instead) {
        var hook = new ArrayList<Hook>();
        hook.add(
                new Hook(
                        when,
                        request -> {
                            hooks.removeAll(hook);
                            return instead.answer(request);
                        }));
        hooks.addFirst(hook.getFirst());
    }

    /** Nothing is answered otherwise any more. */
    void asUsual() {
        hooks.clear();
    }

    /** As it was in the beginning. */
    synchronized void reset() {
        hooks.clear();
        requests.clear();
        ended.clear();
        events.clear();
        told.clear();
        pods.clear();
        namespaces.clear();
        evictions.clear();
    }

    /** Breaks the connection after the request was carried out, so that no answer comes. */
    Instead answerLost() {
        return request -> {
            usual(request);
            throw new UncheckedIOException(new IOException("the connection is broken"));
        };
    }

    /** Breaks the connection before anything is done. */
    static Instead away() {
        return request -> {
            throw new UncheckedIOException(new IOException("the connection is broken"));
        };
    }

    static Instead refusal(int code) {
        return request -> Answer.status(code, "no");
    }

    static Predicate<Request> eviction(String pod) {
        return it -> it.path().endsWith("/pods/" + pod + "/eviction");
    }

    static Predicate<Request> inEarnest(String pod) {
        return eviction(pod).and(it -> !it.body().contains("dryRun"));
    }

    static Predicate<Request> deletion(String pod) {
        return it -> it.method().equals("DELETE") && it.path().endsWith("/pods/" + pod);
    }

    static Predicate<Request> writing(String phase) {
        return it ->
                it.method().equals("PUT")
                        && it.path().endsWith("/status")
                        && it.body().contains("\"phase\":\"" + phase + "\"");
    }

    List<Request> to(Predicate<Request> which) {
        return requests.stream().filter(which).toList();
    }

    /** A pod on {@link #NODE}, with an hour's grace. */
    synchronized ObjectNode pod(String namespace, String name) {
        var pod =
                (ObjectNode)
                        JSON.readTree(
                                """
                                {"apiVersion": "v1", "kind": "Pod",
                                 "metadata": {"namespace": "%s", "name": "%2$s", "uid": "%4$s",
                                   "labels": {"gpusharing.io/metered": "true"}, "annotations": {},
                                   "creationTimestamp": "2026-03-02T09:00:00Z", "ownerReferences": []},
                                 "spec": {"nodeName": "%3$s", "priority": 0, "terminationGracePeriodSeconds": 30},
                                 "status": {"phase": "Running", "conditions": []}}
                                """
                                        .formatted(namespace, name, NODE, uid(name)));
        pods.put(namespace + "/" + name, pod);
        return pod;
    }

    /** The UID of a pod of that name. */
    static String uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(UTF_8)).toString();
    }

    synchronized void remove(String pod) {
        pods.remove(pod);
    }

    /** Somebody makes a pod end. */
    synchronized void disrupt(String pod, String reason) {
        disrupt(present(pod), reason);
    }

    /** Its owner has its status say that somebody else made it end; null for nobody. */
    synchronized void disguise(String pod, @Nullable String reason) {
        ArrayNode conditions = present(pod).withObject("status").withArray("conditions");
        if (reason == null) {
            conditions.removeAll();
        } else {
            conditions.forEach(it -> ((ObjectNode) it).put("reason", reason));
        }
    }

    /** Its disruption was said then. */
    synchronized void backdate(String pod, Instant instant) {
        present(pod)
                .at("/status/conditions")
                .forEach(it -> ((ObjectNode) it).put("lastTransitionTime", instant.toString()));
    }

    /** kube-scheduler ends others on a node for a pod. */
    synchronized void nominate(String pod, String node) {
        present(pod).withObject("status").put("nominatedNodeName", node);
    }

    synchronized void bind(String pod, @Nullable String node) {
        present(pod).withObject("spec").put("nodeName", node);
    }

    void exempt(String namespace) {
        annotate(namespace, "gpusharing.io/do-not-reclaim");
    }

    synchronized void annotate(String namespace, String annotation) {
        namespaces.put(
                namespace,
                (ObjectNode)
                        JSON.readTree(
                                """
                                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "%s",
                                 "annotations": {"%s": "true"}}}
                                """
                                        .formatted(namespace, annotation)));
    }

    /** A pod as a watch shows it. */
    synchronized Pod shown(String pod) {
        return LeanObjects.serialization().unmarshal(present(pod).toString(), Pod.class);
    }

    private ObjectNode present(String pod) {
        return Optional.ofNullable(pods.get(pod)).orElseThrow();
    }

    private void disrupt(ObjectNode pod, String reason) {
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        pod.withObject("status")
                .withArray("conditions")
                .addObject()
                .put("type", "DisruptionTarget")
                .put("status", "True")
                .put("reason", reason)
                .put("lastTransitionTime", now);
        end(pod);
    }

    private void end(ObjectNode pod) {
        ObjectNode metadata = pod.withObject("metadata");
        if (!metadata.has("deletionTimestamp")) {
            metadata.put(
                    "deletionTimestamp",
                    clock.instant().plusSeconds(30).truncatedTo(ChronoUnit.SECONDS).toString());
            metadata.put("deletionGracePeriodSeconds", 30);
            ended.add(metadata.get("name").asString());
        }
    }

    /** Stores an eviction, as the timekeeper does. */
    synchronized void store(String name, String spec) {
        create(
                (ObjectNode)
                        JSON.readTree(
                                """
                                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuEviction",
                                 "metadata": {"name": "%s"}, "spec": %s}
                                """
                                        .formatted(name, spec)));
    }

    /** Its watches say that an eviction is there. */
    void tellOf(String name) {
        String object;
        synchronized (this) {
            object = Optional.ofNullable(evictions.get(name)).orElseThrow().toString();
        }
        server.tell("gpuevictions", "{\"type\": \"ADDED\", \"object\": %s}".formatted(object));
    }

    /** Whether somebody watches. */
    boolean isWatched() {
        return !server.watches().isEmpty();
    }

    /** Takes an eviction back. */
    synchronized void withdraw(String name) {
        evictions.remove(name);
    }

    synchronized GpuEviction stored(String name) {
        return LeanObjects.serialization()
                .unmarshal(
                        Optional.ofNullable(evictions.get(name)).orElseThrow().toString(),
                        GpuEviction.class);
    }

    synchronized List<GpuEviction> evictions() {
        return evictions.keySet().stream().map(this::stored).toList();
    }

    private Answer answer(Request request) {
        requests.add(request);
        for (Hook hook : hooks) {
            if (hook.when().test(request)) {
                Answer other = hook.instead().answer(request);
                return other == null ? usual(request) : other;
            }
        }
        return usual(request);
    }

    private synchronized Answer usual(Request request) {
        String path = request.path();
        List<String> parts = List.of(path.split("/", -1));
        if (path.startsWith(EVICTIONS)) {
            return ofEvictions(request, path.substring(EVICTIONS.length()));
        }
        if (path.endsWith("/events")) {
            return request.method().equals("GET")
                    ? Answer.list(String.join(",", told))
                    : event(request);
        }
        if (path.endsWith("/eviction")) {
            return evict(request, parts.get(4) + "/" + parts.get(6));
        }
        if (path.endsWith("/pods")) {
            String query = request.uri().getQuery();
            return Answer.list(
                    pods.values().stream()
                            .filter(it -> isListed(it, query))
                            .map(JsonNode::toString)
                            .collect(Collectors.joining(",")));
        }
        if (path.contains("/pods/")) {
            String pod = parts.get(4) + "/" + parts.get(6);
            return request.method().equals("DELETE") ? delete(request, pod) : found(pods.get(pod));
        }
        return found(namespaces.get(parts.get(4)));
    }

    /** By its node, or by the one where room is made for it. */
    private static boolean isListed(JsonNode pod, String query) {
        String node = pod.at("/spec/nodeName").asString("");
        return query.contains("spec.nodeName=%s,".formatted(node))
                && (!node.isEmpty()
                        || query.contains(
                                "status.nominatedNodeName="
                                        + pod.at("/status/nominatedNodeName").asString("none")));
    }

    private static Answer found(@Nullable JsonNode object) {
        return object == null ? Answer.status(404, "not found") : Answer.ok(object.toString());
    }

    private Answer event(Request request) {
        JsonNode event = JSON.readTree(request.body());
        String name = event.at("/metadata/name").asString();
        if (events.stream().anyMatch(it -> it.at("/metadata/name").asString().equals(name))) {
            return Answer.status(409, "it is there");
        }
        events.add(event);
        return Answer.ok(request.body());
    }

    private Answer evict(Request request, String name) {
        JsonNode options = JSON.readTree(request.body()).path("deleteOptions");
        ObjectNode pod = pods.get(name);
        if (pod == null) {
            return Answer.status(404, "not found");
        }
        if (!isMeant(options, pod)) {
            return Answer.status(409, "the UID in the precondition is another one");
        }
        if (!options.has("dryRun")) {
            if (!pod.at("/metadata").has("deletionTimestamp")) {
                disrupt(pod, "EvictionByEvictionAPI");
            }
        }
        return Answer.ok("{\"kind\": \"Status\", \"status\": \"Success\"}");
    }

    private static boolean isMeant(JsonNode options, JsonNode pod) {
        return options.at("/preconditions/uid")
                .asString("")
                .equals(pod.at("/metadata/uid").asString());
    }

    private Answer delete(Request request, String name) {
        ObjectNode pod = pods.get(name);
        if (pod == null) {
            return Answer.status(404, "not found");
        }
        if (!isMeant(JSON.readTree(request.body()), pod)) {
            return Answer.status(409, "the UID in the precondition is another one");
        }
        end(pod);
        return Answer.ok(pod.toString());
    }

    private Answer ofEvictions(Request request, String rest) {
        String name = rest.replace("/status", "").replace("/", "");
        if (request.method().equals("GET") && name.isEmpty()) {
            return Answer.list(
                    evictions.values().stream()
                            .map(JsonNode::toString)
                            .collect(Collectors.joining(",")));
        }
        return switch (request.method()) {
            case "POST" -> create((ObjectNode) JSON.readTree(request.body()));
            case "PUT" -> update(name, (ObjectNode) JSON.readTree(request.body()));
            default -> found(evictions.get(name));
        };
    }

    private Answer create(ObjectNode object) {
        ObjectNode metadata = object.withObject("metadata");
        if (!metadata.has("name")) {
            metadata.put("name", metadata.get("generateName").asString() + version);
        }
        String name = metadata.get("name").asString();
        if (evictions.containsKey(name)) {
            return Answer.status(409, "it is there");
        }
        metadata.put("uid", "%08d-0000-0000-0000-000000000000".formatted(++version));
        metadata.put("resourceVersion", Integer.toString(version));
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        metadata.put("creationTimestamp", now.toString());
        object.remove("status");
        evictions.put(name, object);
        return Answer.ok(object.toString());
    }

    private Answer update(String name, ObjectNode changed) {
        ObjectNode stored = evictions.get(name);
        if (stored == null) {
            return Answer.status(404, "not found");
        }
        if (!stored.at("/metadata/resourceVersion")
                .equals(changed.at("/metadata/resourceVersion"))) {
            return Answer.status(409, "the object has been modified");
        }
        ObjectNode after = stored.deepCopy();
        after.set("status", changed.get("status"));
        after.withObject("metadata").put("resourceVersion", Integer.toString(++version));
        evictions.put(name, after);
        return Answer.ok(after.toString());
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}

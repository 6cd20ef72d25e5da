package io.gpusharing.deviceplugin.cluster;

import com.google.gson.stream.JsonReader;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.deviceplugin.cluster.NodePod.Deletion;
import io.gpusharing.deviceplugin.cluster.NodePod.Ipc;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.Sharing;
import java.io.IOException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads one pod, and of it only what concerns us. What else stands in the place of a pod in a
 * watch, a bookmark or a Status, is read as one that lacks the rest.
 */
final class PodReader {

    private static final String MIRROR = "kubernetes.io/config.mirror";

    private String uid = "";
    private String namespace = "";
    private String name = "";
    private String resourceVersion = "";
    private String phase = "";
    private boolean isStatic;
    private @Nullable Instant deletionTimestamp;
    private long graceSeconds;
    private boolean hostIpc;
    private final Set<String> ownSharedMemory = new HashSet<>();
    private int code;
    private String message = "";
    private Map<String, String> annotations = Map.of();
    private final List<ContainerRequest> apps = new ArrayList<>();
    private final List<ContainerRequest> inits = new ArrayList<>();
    private final Map<String, String> running = new HashMap<>();

    private final Predicate<String> resources;

    /**
     * @param resources those of interest
     */
    private PodReader(Predicate<String> resources) {
        this.resources = resources;
    }

    /**
     * A list.
     *
     * @param resources those of interest
     * @param pods takes each
     * @return the version that a watch goes on from
     */
    static String list(JsonReader json, Predicate<String> resources, Consumer<NodePod> pods)
            throws IOException {
        var list = new PodReader(resources);
        Json.object(
                json,
                (member, value) -> {
                    switch (member) {
                        case "metadata" -> Json.object(value, list::metadata);
                        case "items" ->
                                Json.array(
                                        value,
                                        item -> {
                                            NodePod pod = read(item, resources).pod();
                                            if (pod != null) {
                                                pods.accept(pod);
                                            }
                                        });
                        default -> value.skipValue();
                    }
                });
        if (list.resourceVersion.isEmpty()) {
            throw new IOException("The API server's answer is no list of pods");
        }
        return list.resourceVersion;
    }

    /**
     * One event of a watch.
     *
     * @param resources those of interest
     */
    static WatchEvent event(JsonReader json, Predicate<String> resources) throws IOException {
        var event = new Event(resources);
        Json.object(json, event::member);
        PodReader object = event.object;
        return new WatchEvent(
                event.type, object.resourceVersion, object.pod(), object.code, object.message);
    }

    private static final class Event {

        private final Predicate<String> resources;
        private String type = "";
        private PodReader object;

        Event(Predicate<String> resources) {
            this.resources = resources;
            this.object = new PodReader(resources);
        }

        private void member(String member, JsonReader json) throws IOException {
            switch (member) {
                case "type" -> type = Json.text(json);
                case "object" -> object = read(json, resources);
                default -> json.skipValue();
            }
        }
    }

    private static PodReader read(JsonReader json, Predicate<String> resources) throws IOException {
        var object = new PodReader(resources);
        Json.object(json, object::member);
        return object;
    }

    private @Nullable NodePod pod() {
        if (uid.isEmpty()) {
            return null;
        }
        boolean ended = phase.equals("Succeeded") || phase.equals("Failed");
        // A pod may have thousands of containers, and who names a node that does not take it may
        // leave hundreds of such pods there: those without a share are not remembered.
        List<ContainerRequest> containers =
                Stream.of(apps, inits).flatMap(List::stream).filter(PodReader::hasShare).toList();
        Set<String> names =
                containers.stream().map(ContainerRequest::name).collect(Collectors.toSet());
        running.keySet().retainAll(names);
        ownSharedMemory.retainAll(names);
        return new NodePod(
                uid,
                namespace,
                name,
                isStatic,
                ended,
                deletionTimestamp == null ? null : new Deletion(deletionTimestamp, graceSeconds),
                new PodRequest(ended ? List.of() : containers),
                ended ? Map.of() : annotations,
                running,
                hostIpc || !ownSharedMemory.isEmpty()
                        ? new Ipc(hostIpc, ownSharedMemory)
                        : Ipc.USUAL);
    }

    private static boolean hasShare(ContainerRequest container) {
        return !container.limits().isEmpty() || !container.requests().isEmpty();
    }

    private void member(String member, JsonReader json) throws IOException {
        switch (member) {
            case "metadata" -> Json.object(json, this::metadata);
            case "spec" -> Json.object(json, this::spec);
            case "status" -> Json.object(json, this::status);
            case "code" -> code = json.nextInt();
            case "message" -> message = Json.text(json);
            default -> json.skipValue();
        }
    }

    private void metadata(String member, JsonReader json) throws IOException {
        switch (member) {
            case "uid" -> uid = Json.text(json);
            case "namespace" -> namespace = Json.text(json);
            case "name" -> name = Json.text(json);
            case "resourceVersion" -> resourceVersion = Json.text(json);
            case "deletionTimestamp" -> deletionTimestamp = instant(Json.text(json));
            case "deletionGracePeriodSeconds" -> graceSeconds = json.nextLong();
            case "annotations" ->
                    annotations =
                            Json.texts(
                                    json,
                                    key -> {
                                        isStatic |= key.equals(MIRROR);
                                        return key.startsWith(Names.PREFIX)
                                                || key.equals(Names.MPS_ANNOTATION);
                                    });
            default -> json.skipValue();
        }
    }

    private void spec(String member, JsonReader json) throws IOException {
        switch (member) {
            case "hostIPC" -> hostIpc = json.nextBoolean();
            case "containers" ->
                    Json.array(
                            json,
                            item -> apps.add(spec(Container.read(item, resources), Kind.App)));
            case "initContainers" ->
                    Json.array(
                            json,
                            item -> {
                                Container container = Container.read(item, resources);
                                inits.add(
                                        spec(
                                                container,
                                                container.restartPolicy.equals("Always")
                                                        ? Kind.NativeSidecar
                                                        : Kind.Init));
                            });
            default -> json.skipValue();
        }
    }

    private ContainerRequest spec(Container container, Kind kind) {
        if (container.ownSharedMemory) {
            ownSharedMemory.add(container.name);
        }
        return container.request(kind);
    }

    /** One that cannot be read is long ago: the pod is to end all the same. */
    private static @Nullable Instant instant(String text) {
        if (text.isEmpty()) {
            return null;
        }
        try {
            return ApiTime.read(text);
        } catch (DateTimeParseException e) {
            return Instant.EPOCH;
        }
    }

    private void status(String member, JsonReader json) throws IOException {
        switch (member) {
            case "phase" -> phase = Json.text(json);
            case "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses" ->
                    Json.array(
                            json,
                            item -> {
                                Container container = Container.read(item, resources);
                                if (container.runs) {
                                    running.put(container.name, container.id);
                                }
                            });
            default -> json.skipValue();
        }
    }

    /** One of the spec, or the status of one. */
    private static final class Container {

        private String name = "";
        private String restartPolicy = "";
        private String id = "";
        private boolean runs;
        private boolean ownSharedMemory;
        private final Map<String, Quantity> limits = new HashMap<>();
        private final Map<String, Quantity> requests = new HashMap<>();

        private final Predicate<String> resources;

        private Container(Predicate<String> resources) {
            this.resources = resources;
        }

        private static Container read(JsonReader json, Predicate<String> resources)
                throws IOException {
            var container = new Container(resources);
            Json.object(json, container::member);
            return container;
        }

        private ContainerRequest request(Kind kind) {
            return new ContainerRequest(name, kind, limits, requests);
        }

        private void member(String member, JsonReader json) throws IOException {
            switch (member) {
                case "name" -> name = Json.text(json);
                case "restartPolicy" -> restartPolicy = Json.text(json);
                case "resources" -> Json.object(json, this::resources);
                case "volumeMounts" ->
                        Json.array(json, mount -> Json.object(mount, this::volumeMount));
                case "containerID" -> id = Json.text(json);
                case "state" -> Json.object(json, this::state);
                default -> json.skipValue();
            }
        }

        private void resources(String member, JsonReader json) throws IOException {
            switch (member) {
                case "limits" -> amounts(json, limits);
                case "requests" -> amounts(json, requests);
                default -> json.skipValue();
            }
        }

        private void volumeMount(String member, JsonReader json) throws IOException {
            if (member.equals("mountPath")) {
                ownSharedMemory |= Sharing.isSharedMemory(Json.text(json));
            } else {
                json.skipValue();
            }
        }

        private void state(String member, JsonReader json) throws IOException {
            runs |= member.equals("running");
            json.skipValue();
        }

        private void amounts(JsonReader json, Map<String, Quantity> amounts) throws IOException {
            var texts = Json.texts(json, resources);
            for (Map.Entry<String, String> amount : texts.entrySet()) {
                try {
                    Quantity quantity = Quantity.parse(amount.getValue());
                    if (quantity.value().signum() != 0) {
                        amounts.put(amount.getKey(), quantity);
                    }
                } catch (IllegalArgumentException e) {
                    // The API server takes whole numbers only, 2^63 at most. Should one slip by,
                    // its pod gets less, and all others are read as ever.
                }
            }
        }
    }
}

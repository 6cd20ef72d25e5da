package io.gpusharing.deviceplugin.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads what a real API server wrote; {@code make record} makes those recordings anew. */
class PodReaderTest {

    private static final Predicate<String> RESOURCES =
            Set.of("tencent.com/vcuda-core", "tencent.com/vcuda-memory", "a.b/c")::contains;

    private static final Path RECORDED = Path.of("../e2e/src/test/resources/recorded");

    static Stream<Path> recordings() throws IOException {
        try (Stream<Path> files = Files.walk(RECORDED)) {
            return files.filter(file -> file.endsWith("watch.jsonl")).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("recordings")
    void readsEveryRecordedEventAsOneStream(Path file) throws IOException {
        List<WatchEvent> events = events(Files.readString(file));

        List<JsonObject> lines =
                Files.readAllLines(file).stream()
                        .map(line -> JsonParser.parseString(line).getAsJsonObject())
                        .toList();
        assertThat(events).hasSameSizeAs(lines).isNotEmpty();
        for (int i = 0; i < lines.size(); i++) {
            JsonObject object = lines.get(i).getAsJsonObject("object");
            JsonObject metadata = object.getAsJsonObject("metadata");
            NodePod pod = requireNonNull(events.get(i).pod());
            assertThat(pod.deleting()).isEqualTo(metadata.has("deletionTimestamp"));
            assertThat(events.get(i).type()).isEqualTo(lines.get(i).get("type").getAsString());
            assertThat(events.get(i).resourceVersion())
                    .isEqualTo(metadata.get("resourceVersion").getAsString());
            assertThat(pod.uid()).isEqualTo(metadata.get("uid").getAsString());
            assertThat(pod.namespace()).isEqualTo(metadata.get("namespace").getAsString());
            assertThat(pod.name()).isEqualTo(metadata.get("name").getAsString());
            Set<String> devices = withDevices(object.getAsJsonObject("spec"));
            Set<String> running = running(object.getAsJsonObject("status"));
            running.retainAll(devices);
            assertThat(pod.running()).containsOnlyKeys(running);
            assertThat(pod.request().containers())
                    .extracting(ContainerRequest::name)
                    .containsExactlyInAnyOrderElementsOf(pod.ended() ? Set.of() : devices);
        }
    }

    /** Finding: thirty pods that their node never took, of 1.5 MB each, filled the memory. */
    @Test
    void ofAPodThatHasEndedOnlyWhoItIsIsKept() throws IOException {
        NodePod pod =
                requireNonNull(
                        events(
                                        """
                                        {"type": "ADDED", "object": {"metadata": {"uid": "u", "namespace": "n", "name": "p",\
                                         "annotations": {"request.gpusharing.io/mps": "disabled"}},\
                                         "spec": {"containers": [{"name": "c", "resources": {"limits": {"a.b/c": "1"}}}]},\
                                         "status": {"phase": "Failed", "reason": "OutOfcpu"}}}
                                        """)
                                .getFirst()
                                .pod());

        assertThat(pod)
                .isEqualTo(
                        new NodePod(
                                "u",
                                "n",
                                "p",
                                false,
                                true,
                                null,
                                new PodRequest(List.of()),
                                Map.of(),
                                Map.of(),
                                NodePod.Ipc.USUAL));
    }

    @Test
    void readsWhenAPodIsToEndAndWhatItsContainersShare() throws IOException {
        NodePod pod =
                requireNonNull(
                        events(
                                        """
                                        {"type": "MODIFIED", "object": {"metadata": {"uid": "u", "namespace": "n", "name": "p",\
                                         "deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30,\
                                         "annotations": {"request.gpusharing.io/mps": "disabled", "example.com/other": "x"}},\
                                         "spec": {"hostIPC": true, "containers": [\
                                          {"name": "own", "resources": {"limits": {"a.b/c": "1"}}, "volumeMounts": [{"name": "v", "mountPath": "/dev/shm/"}]},\
                                          {"name": "none", "resources": {"limits": {"a.b/c": "1"}}, "volumeMounts": [{"name": "v", "mountPath": "/dev/shm/below"}]}]}}}
                                        """)
                                .getFirst()
                                .pod());

        assertThat(pod.deletion())
                .isEqualTo(new NodePod.Deletion(Instant.parse("2026-01-01T00:00:30Z"), 30));
        assertThat(pod.ipc()).isEqualTo(new NodePod.Ipc(true, Set.of("own")));
        assertThat(pod.annotations())
                .containsExactly(Map.entry("request.gpusharing.io/mps", "disabled"));
    }

    @ParameterizedTest
    @MethodSource("io.gpusharing.sharing.MountPaths#ofSharedMemory")
    void howeverThePathOfTheSharedMemoryIsWrittenItIsRead(String path) throws IOException {
        assertThat(podWithVolumeAt(path).ipc()).isEqualTo(new NodePod.Ipc(false, Set.of("cuda")));
    }

    @ParameterizedTest
    @MethodSource("io.gpusharing.sharing.MountPaths#ofOthers")
    void volumesElsewhereAreNoSharedMemory(String path) throws IOException {
        assertThat(podWithVolumeAt(path).ipc()).isEqualTo(NodePod.Ipc.USUAL);
    }

    private static NodePod podWithVolumeAt(String path) throws IOException {
        return requireNonNull(
                events(
                                """
                                {"type": "ADDED", "object": {"metadata": {"uid": "u", "namespace": "n", "name": "p"},\
                                 "spec": {"containers": [{"name": "cuda", "resources": {"limits": {"a.b/c": "1"}}, "volumeMounts": [{"name": "v", "mountPath": "%s"}]}]}}}
                                """
                                        .formatted(path))
                        .getFirst()
                        .pod());
    }

    private static Set<String> running(@Nullable JsonObject status) {
        var running = new HashSet<String>();
        for (String kind : List.of("containerStatuses", "initContainerStatuses")) {
            for (JsonElement container : elements(status, kind)) {
                JsonObject state = container.getAsJsonObject().getAsJsonObject("state");
                if (state != null && state.has("running")) {
                    running.add(container.getAsJsonObject().get("name").getAsString());
                }
            }
        }
        return running;
    }

    private static Set<String> withDevices(JsonObject spec) {
        var names = new HashSet<String>();
        for (String kind : List.of("containers", "initContainers")) {
            for (JsonElement element : elements(spec, kind)) {
                JsonObject container = element.getAsJsonObject();
                JsonObject limits =
                        container.getAsJsonObject("resources").getAsJsonObject("limits");
                if (limits != null && limits.keySet().stream().anyMatch(RESOURCES)) {
                    names.add(container.get("name").getAsString());
                }
            }
        }
        return names;
    }

    private static JsonArray elements(@Nullable JsonObject object, String name) {
        return object != null && object.get(name) instanceof JsonArray array
                ? array
                : new JsonArray();
    }

    @Test
    void tellsNativeSidecarsFromInitContainersAndPutsAppContainersFirst() throws IOException {
        NodePod pod =
                requireNonNull(
                        events(
                                        """
                                        {"type": "ADDED", "object": {"metadata": {"uid": "u", "namespace": "n", "name": "p"},\
                                         "spec": {"initContainers": [\
                                         {"name": "load", "resources": {"limits": {"a.b/c": "1"}}},\
                                         {"name": "serve", "restartPolicy": "Always", "resources": {"requests": {"a.b/c": "1"}}}],\
                                         "containers": [{"name": "cuda", "resources": {"limits": {"a.b/c": "1"}}}]}}}
                                        """)
                                .getFirst()
                                .pod());

        assertThat(pod.request().containers())
                .extracting(ContainerRequest::name, ContainerRequest::kind)
                .containsExactly(
                        tuple("cuda", Kind.App),
                        tuple("load", Kind.Init),
                        tuple("serve", Kind.NativeSidecar));
    }

    /** Others' resources, and a share of nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"\"example.com/foo\": \"1\"", "\"a.b/c\": \"0\"", "\"cpu\": \"1\""})
    void whatElseAContainerAsksForMakesItNoneOfOurs(String limits) throws IOException {
        NodePod pod =
                requireNonNull(
                        events(
                                        """
                                        {"type": "ADDED", "object": {"metadata": {"uid": "u", "namespace": "n", "name": "p"},\
                                         "spec": {"containers": [{"name": "c", "resources": {"limits": {%s}}}]},\
                                         "status": {"containerStatuses": [{"name": "c", "containerID": "i", "state": {"running": {}}}]}}}
                                        """
                                                .formatted(limits))
                                .getFirst()
                                .pod());

        assertThat(pod.request().containers()).isEmpty();
        assertThat(pod.running()).isEmpty();
    }

    /** Finding: a hundred pods of thousands of containers each filled the memory. */
    @Test
    void containersWithoutADeviceAreNotRemembered() throws IOException {
        assertThat(living("middle-native-sidecar").request().containers())
                .extracting(ContainerRequest::name)
                .containsExactly("cuda");
    }

    @Test
    void readsWhatIsAskedOfExtendedResourcesOnly() throws IOException {
        ContainerRequest cuda = living("middle-native-sidecar").request().containers().getFirst();

        assertThat(cuda.limits())
                .isEqualTo(
                        Map.of(
                                "tencent.com/vcuda-core",
                                Quantity.of(10),
                                "tencent.com/vcuda-memory",
                                Quantity.of(1)));
        assertThat(cuda.requests()).isEqualTo(cuda.limits());
    }

    @Test
    void keepsOurAnnotationsOnly() throws IOException {
        assertThat(living("middle-native-sidecar").annotations())
                .containsEntry("gpusharing.io/standing", "Unlimited")
                .doesNotContainKey("tencent.com/vcuda-core-limit");
    }

    @Test
    void knowsAMirrorOfAStaticPod() throws IOException {
        assertThat(last("begin-mirror-pod").isStatic()).isTrue();
        assertThat(last("end-succeeded").isStatic()).isFalse();
    }

    @Test
    void knowsWhenAPodHasEnded() throws IOException {
        assertThat(last("end-succeeded").ended()).isTrue();
        assertThat(last("end-failed").ended()).isTrue();
        assertThat(pods("end-succeeded").getFirst().ended()).isFalse();
    }

    @Test
    void readsABookmarkAndAnErrorAsNoPod() throws IOException {
        List<WatchEvent> events =
                events(
                        """
                        {"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12746","creationTimestamp":null},"spec":{"containers":null},"status":{}}}
                        {"type":"ERROR","object":%s}
                        """
                                .formatted(FakeApiServer.status(410, "too old")));

        assertThat(events)
                .containsExactly(
                        new WatchEvent("BOOKMARK", "12746", null, 0, ""),
                        new WatchEvent("ERROR", "", null, 410, "too old"));
    }

    @Test
    void anAmountThatIsNoneDoesNotHideThePod() throws IOException {
        JsonObject pod = TestPods.half("a", "a");
        pod.getAsJsonObject("spec")
                .getAsJsonArray("containers")
                .get(0)
                .getAsJsonObject()
                .getAsJsonObject("resources")
                .getAsJsonObject("limits")
                .addProperty("tencent.com/vcuda-core", "many");

        NodePod read =
                requireNonNull(
                        events("{\"type\":\"ADDED\",\"object\":%s}".formatted(pod))
                                .getFirst()
                                .pod());

        assertThat(read.request().containers().getFirst().limits())
                .containsOnlyKeys("tencent.com/vcuda-memory");
    }

    /** An API server writes the year so when somebody names an hour that is in the next in UTC. */
    @Test
    void aPodThatIsToEndInTheYearTenThousandIsToEndThen() throws IOException {
        JsonObject pod = TestPods.half("a", "a");
        pod.getAsJsonObject("metadata").addProperty("deletionTimestamp", "10000-01-01T00:59:59Z");

        NodePod read =
                requireNonNull(
                        events("{\"type\":\"MODIFIED\",\"object\":%s}".formatted(pod))
                                .getFirst()
                                .pod());

        assertThat(requireNonNull(read.deletion()).end())
                .isEqualTo(Instant.parse("+10000-01-01T00:59:59Z"));
    }

    @Test
    void managedFieldsOfAnyDepthEndNoList() throws IOException {
        int depth = 5_000;
        String fields = "{\"f:x\":".repeat(depth) + "{}" + "}".repeat(depth);
        String odd =
                "{\"metadata\":{\"uid\":\"odd\",\"managedFields\":[{\"fieldsV1\":%s}]}}"
                        .formatted(fields);
        var read = new ArrayList<String>();

        String version =
                PodReader.list(
                        json(
                                "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%s,%s]}"
                                        .formatted(odd, TestPods.half("a", "a"))),
                        RESOURCES,
                        pod -> read.add(pod.uid()));

        assertThat(version).isEqualTo("7");
        assertThat(read).containsExactly("odd", "a");
    }

    @Test
    void anAnswerThatIsNoListIsNotTakenForAnEmptyOne() {
        assertThatThrownBy(() ->
                        PodReader.list(json(FakeApiServer.status(200, "")), RESOURCES, pod -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no list of pods");
    }

    /** The last of its states before its end. */
    private static NodePod living(String name) throws IOException {
        return pods(name).stream().filter(pod -> !pod.ended()).toList().getLast();
    }

    private static NodePod last(String recording) {
        return pods(recording).getLast();
    }

    private static List<NodePod> pods(String recording) {
        try {
            return events(
                            Files.readString(
                                    RECORDED.resolve("v1.36.3/" + recording + "/watch.jsonl")))
                    .stream()
                    .map(WatchEvent::pod)
                    .filter(pod -> pod != null)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<WatchEvent> events(String text) throws IOException {
        var events = new ArrayList<WatchEvent>();
        JsonReader json = json(text);
        while (json.peek() != JsonToken.END_DOCUMENT) {
            events.add(PodReader.event(json, RESOURCES));
        }
        return events;
    }

    private static JsonReader json(String text) {
        return ApiServer.json(new ByteArrayInputStream(text.getBytes(UTF_8)));
    }
}

package io.gpusharing.scheduler.extender;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Sharing.Across;
import io.gpusharing.sharing.Strategy;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Questions that a real kube-scheduler asked, and what it is answered. */
class ExtenderControllerTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Instant NOON = Instant.parse("2026-11-25T12:00:00Z");
    private static final String UID = "7830e4d4-9702-4b37-b147-88deea0c3668";

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private boolean known = true;
    private Optional<String> whyNot = Optional.empty();
    private Optional<String> bound = Optional.empty();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});

    private final MockMvc extender = asked("gpusharing-scheduler");

    /** By a kube-scheduler whose pods we follow by this name. */
    private MockMvc asked(String schedulerName) {
        return MockMvcBuilders.standaloneSetup(
                        new ExtenderController(
                                () -> known,
                                () -> whyNot,
                                new SchedulerName(schedulerName),
                                gpus,
                                new GpuPodReader(
                                        new ProviderAsk(Map.of("cnvrg.io/metagpu", 100)),
                                        Strategy.BestFit,
                                        new PodSharing(Across.Budget)),
                                unreadable,
                                (namespace, name, uid, node) -> {
                                    assertThat(List.of(namespace, name, uid, node))
                                            .containsExactly("default", "train", UID, "gpu-node-1");
                                    return bound;
                                },
                                new FilterMetrics(registry),
                                Clock.fixed(NOON, ZoneOffset.UTC)))
                .build();
    }

    private static String recorded(String name) throws IOException {
        try (InputStream in =
                ExtenderControllerTest.class.getResourceAsStream("/recorded/" + name)) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private JsonNode ask(String path, String question) throws Exception {
        return ask(extender, path, question);
    }

    private static JsonNode ask(MockMvc extender, String path, String question) throws Exception {
        var answer =
                extender.perform(
                                post(path)
                                        .contentType(MediaType.APPLICATION_JSON)
                                        .content(question))
                        .andReturn()
                        .getResponse();
        assertThat(answer.getStatus()).isEqualTo(200);
        return JSON.readTree(answer.getContentAsString());
    }

    private void share(String node, int gpus) {
        this.gpus.describe(
                new SharedNode(
                        node,
                        IntStream.range(0, gpus)
                                .mapToObj(i -> new Gpu(node + "-gpu-" + i, 100, 15_360))
                                .toList(),
                        List.of(),
                        Map.of()));
    }

    private double answered(String result) {
        return registry.get("gpusharing.scheduler.answers").tag("result", result).counter().count();
    }

    @Test
    void namesTheOneNodeAndKeepsTheGpuThere() throws Exception {
        share("gpu-node-2", 2);

        JsonNode answer = ask("/filter", recorded("filter-1.36.3.json"));

        assertThat(answer)
                .isEqualTo(
                        JSON.readTree(
                                """
                                {"NodeNames": ["gpu-node-2"]}
                                """));
        assertThat(answered("placed")).isEqualTo(1);
        Placement placement = gpus.claim(UID, "gpu-node-2", NOON).orElseThrow();
        assertThat(placement.annotation(UID).text()).isEqualTo(UID + ";cuda=gpu-node-2-gpu-0");
        assertThat(placement.held().getFirst().cores()).isEqualTo(50);
        assertThat(placement.held().getFirst().memory()).isEqualTo(3_840);
    }

    @Test
    void ofSeveralNodesItPrefersTheOneWhereTheGpuIsKept() throws Exception {
        share("gpu-node-2", 2);
        ask("/filter", recorded("filter-1.36.3.json"));

        assertThat(ask("/prioritize", recorded("filter-1.36.3.json")))
                .contains(
                        JSON.readTree("{\"Host\": \"gpu-node-1\", \"Score\": 0}"),
                        JSON.readTree("{\"Host\": \"gpu-node-2\", \"Score\": 10}"));
    }

    @Test
    void aPodThatCannotBeReadWaitsAlone() throws Exception {
        share("gpu-node-2", 2);
        String question = recorded("filter-1.36.3.json");
        String odd =
                question.replace(
                        "\"annotations\":", "\"deletionTimestamp\":\"soon\",\"annotations\":");

        assertThat(ask("/filter", odd).path("Error").asString()).contains("cannot read");
        assertThat(unreadable.present()).extracting(Unreadable::kind).containsExactly("Pod");
        assertThat(ask("/filter", question).path("NodeNames")).hasSize(1);
        assertThat(unreadable.present()).isEmpty();
    }

    @Test
    void whereThereIsNoRoomTheReasonHasNeitherANodeNorAPercentSign() throws Exception {
        share("gpu-node-1", 1);
        share("gpu-node-2", 1);
        for (String node : List.of("gpu-node-1", "gpu-node-2")) {
            gpus.claim(new GpuPod(node, "x", "x", asks(60)), node, NOON);
        }

        JsonNode answer = ask("/filter", recorded("filter-1.36.3.json"));
        assertThat(answered("no_room")).isEqualTo(1);

        assertThat(answer)
                .isEqualTo(
                        JSON.readTree(
                                """
                                {"NodeNames": [],
                                 "FailedNodes": {
                                   "gpu-node-1": "no single GPU has 50 of 100 and 3840 MiB free",
                                   "gpu-node-2": "no single GPU has 50 of 100 and 3840 MiB free"}}
                                """));
    }

    private static List<ContainerAsk> asks(int cores) {
        return List.of(
                new ContainerAsk("c", Kind.App, new GpuAsk(1, cores, 1_024, false), Set.of()));
    }

    @Test
    void aNodeWithoutOurDevicePluginIsNoPlaceWhoeverGoes() throws Exception {
        assertThat(
                        ask("/filter", recorded("filter-1.36.3.json"))
                                .at("/FailedAndUnresolvableNodes/gpu-node-1")
                                .asString())
                .isEqualTo("its GPUs are not shared by GPUSharing");
    }

    @Test
    void aPodOfWhichWeWouldNotSeeTheEndIsNotPlaced() throws Exception {
        share("gpu-node-1", 1);
        String other =
                recorded("filter-1.36.3.json")
                        .replace("\"gpusharing-scheduler\"", "\"another-profile\"");
        String metered =
                other.replace(
                        "\"annotations\":",
                        "\"labels\":{\"gpusharing.io/metered\":\"true\"},\"annotations\":");

        assertThat(ask("/filter", other).path("Error").asString())
                .contains("follows pods that name the scheduler gpusharing-scheduler");
        assertThat(ask("/filter", metered).path("NodeNames")).hasSize(1);
    }

    @Test
    void askedByTheClustersOwnSchedulerWePlaceWhatAdmissionHasLabelledWhateverItNames()
            throws Exception {
        share("gpu-node-1", 1);
        MockMvc clusters = asked("");
        String question =
                recorded("filter-1.36.3.json")
                        .replace("\"gpusharing-scheduler\"", "\"default-scheduler\"");
        String metered =
                question.replace(
                        "\"annotations\":",
                        "\"labels\":{\"gpusharing.io/metered\":\"true\"},\"annotations\":");

        assertThat(ask(clusters, "/filter", question).path("Error").asString())
                .isEqualTo(
                        "the extender follows pods that GPUSharing has admitted, and this one has no label gpusharing.io/metered: it is older, or of an excluded namespace");
        assertThat(ask(clusters, "/filter", metered).path("NodeNames")).hasSize(1);
    }

    @Test
    void whoseAnnotationsLeaveNoRoomForAPlacementIsNotPlaced() throws Exception {
        share("gpu-node-1", 1);
        String question = recorded("filter-1.36.3.json");
        String tooLong = question.replace("\"vision\"", "\"%s\"".formatted("ä".repeat(123_000)));
        String fits = question.replace("\"vision\"", "\"%s\"".formatted("ä".repeat(122_000)));

        assertThat(ask("/filter", tooLong).path("Error").asString())
                .isEqualTo(
                        "its annotations have 246004 bytes, which leaves no room for gpusharing.io/placement: shorten them by 244");
        assertThat(ask("/filter", fits).path("NodeNames")).hasSize(1);
    }

    @Test
    void whatCannotBeReadIsAnErrorInWords() throws Exception {
        share("gpu-node-1", 1);
        String broken = recorded("filter-1.36.3.json").replace("\"50\"", "\"fifty\"");

        assertThat(ask("/filter", broken).path("Error").asString())
                .startsWith("the extender cannot read what the pod asks of GPUs");
    }

    @Test
    void aPodThatAsksForNothingOfOursMayGoAnywhere() throws Exception {
        String other =
                recorded("filter-1.36.3.json").replace("tencent.com/vcuda-", "example.com/other-");

        assertThat(ask("/filter", other))
                .isEqualTo(JSON.readTree("{\"NodeNames\": [\"gpu-node-1\", \"gpu-node-2\"]}"));
    }

    @Test
    void nobodyIsPlacedBeforeTheClusterIsKnown() throws Exception {
        known = false;

        for (String question : List.of("filter", "bind")) {
            assertThat(
                            ask("/" + question, recorded(question + "-1.36.3.json"))
                                    .path("Error")
                                    .asString())
                    .isEqualTo("the extender has not read the cluster's GPUs yet");
        }
    }

    @Test
    void aSchedulerThatSendsWholeNodesIsToldWhatToSet() throws Exception {
        String question =
                recorded("filter-1.36.3.json")
                        .replace(
                                "\"NodeNames\":[\"gpu-node-1\",\"gpu-node-2\"]",
                                "\"NodeNames\":null");

        assertThat(ask("/filter", question).path("Error").asString())
                .contains("set nodeCacheCapable: true");
    }

    @Test
    void nobodyIsBoundForASchedulerThatDoesNotLeadAnyMore() throws Exception {
        whyNot = Optional.of("another scheduler leads: b_1");
        bound = Optional.of("it was bound all the same");

        assertThat(ask("/bind", recorded("bind-1.36.3.json")).path("Error").asString())
                .isEqualTo("another scheduler leads: b_1");
    }

    @Test
    void bindsAndSaysWhyNot() throws Exception {
        assertThat(ask("/bind", recorded("bind-1.36.3.json")))
                .isEqualTo(JSON.readTree("{\"Error\": \"\"}"));

        bound = Optional.of("its GPUs on gpu-node-1 are not free any more");
        assertThat(ask("/bind", recorded("bind-1.36.3.json")).path("Error").asString())
                .isEqualTo("its GPUs on gpu-node-1 are not free any more");
    }
}

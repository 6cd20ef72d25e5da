package io.gpusharing.scheduler.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against an API server that takes no condition of some pods. */
class WaitingPodsTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final List<String> asked = new ArrayList<>();
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private WaitingPods waiting;
    private int answerOfTheFirst = 500;

    @BeforeEach
    void start() {
        var clock = Clock.fixed(NOON, ZoneOffset.UTC);
        waiting =
                new WaitingPods(
                        client,
                        gpus,
                        new Parts(new SimpleMeterRegistry(), rounds -> {}, clock),
                        clock);
        for (String pod : List.of("first", "second")) {
            gpus.filter(pod(pod), List.of("node"), NOON);
        }
        gpus.describe(
                new SharedNode(
                        "node", List.of(new Gpu("GPU-0", 100, 16_384)), List.of(), Map.of()));
    }

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private static GpuPod pod(String uid) {
        return new GpuPod(
                uid,
                "team-a",
                uid,
                List.of(
                        new ContainerAsk(
                                "cuda", Kind.App, new GpuAsk(1, 60, 1_024, false), Set.of())));
    }

    private Answer answer(Request request) {
        boolean first = request.path().endsWith("/first/status");
        if (request.method().equals("PATCH")) {
            asked.add(first ? "first" : "second");
        }
        return new Answer(
                first ? answerOfTheFirst : 200, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
    }

    /** Etcd takes no more of a pod that its owner has made as large as may be. */
    @Test
    void aPodOfWhichNoConditionIsTakenKeepsNoOtherFromBeingWoken() {
        waiting.wake();

        assertThat(asked).containsExactly("first", "second");

        waiting.wake();

        assertThat(asked).as("both were told, as far as they can be").hasSize(2);
    }

    @Test
    void aPodForWhichNobodyCouldAnswerComesAfterTheOthersAndIsTriedAgain() {
        gpus.unanswered(pod("first"));
        answerOfTheFirst = 503;
        waiting.wake();

        assertThat(asked).containsExactly("second", "first");

        answerOfTheFirst = 200;
        waiting.wake();
        waiting.wake();

        assertThat(asked).containsExactly("second", "first", "first");
    }

    /** Or a pod alone that takes the API server longer than we wait: the others come first then. */
    @Test
    void anApiServerThatIsAwayIsAskedAgainInTheNextRound() {
        answerOfTheFirst = 503;
        waiting.wake();

        assertThat(asked).containsExactly("first");

        answerOfTheFirst = 200;
        waiting.wake();

        assertThat(asked).containsExactly("first", "second", "first");
    }
}

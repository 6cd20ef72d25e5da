package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodReader;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Deleted;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Resync;
import io.gpusharing.timekeeper.cluster.PodEvent.Unlabelled;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PodWatchTest {

    private final FakeApiServer api = new FakeApiServer();
    private final CompletableFuture<List<PodFacts>> listed = new CompletableFuture<>();
    private final CompletableFuture<String> passed = new CompletableFuture<>();
    private final CompletableFuture<String> changed = new CompletableFuture<>();
    private final CompletableFuture<String> left = new CompletableFuture<>();

    PodWatchTest() throws IOException {
        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": [
                  {"metadata": {"name": "p", "namespace": "team-a", "creationTimestamp": "2026-03-02T10:00:00Z",
                                "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"},
                   "spec": {"containers": [{"name": "c"}]}}]}
                """);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void afterAnUnexpectedErrorItListsThePodsAgain() throws Exception {
        var reader = new PodReader(resource -> false);
        var failing = new AtomicBoolean(true);
        var watch =
                new PodWatch(
                        api.client(),
                        pod -> read(reader, pod, failing.getAndSet(false)),
                        this::onEvent,
                        Duration.ofMillis(1),
                        Optional::empty,
                        Clock.systemUTC());
        try (watch) {
            watch.start();

            assertThat(listed.get(20, TimeUnit.SECONDS)).extracting(PodFacts::name).contains("p");
        }
    }

    @Test
    void aResumedWatchReportsWhenItReplaysThePast() throws Exception {
        var reader = new PodReader(resource -> false);
        var watch =
                new PodWatch(
                        api.client(),
                        reader::read,
                        this::onEvent,
                        Duration.ofMillis(1),
                        () -> Optional.of("7"),
                        Clock.systemUTC());
        try (watch) {
            watch.start();

            assertThat(passed.get(20, TimeUnit.SECONDS)).isEqualTo("7");
            assertThat(api.to("/pods"))
                    .anySatisfy(it -> assertThat(it.query()).contains("resourceVersion=7"));
        }
    }

    /** As if a claim of the pod could not be read for a moment. */
    @Test
    void eventsThatWereNotAcceptedAreDeliveredAgain() throws Exception {
        String event = LEFT.replace("DELETED", "MODIFIED").formatted("").replace("\n", "");
        api.happen("/pods", event);
        var reader = new PodReader(resource -> false);
        var failing = new AtomicBoolean(true);
        var watch =
                new PodWatch(
                        api.client(),
                        pod -> {
                            boolean isPodEvent = "8".equals(pod.getMetadata().getResourceVersion());
                            boolean fails = isPodEvent && failing.getAndSet(false);
                            if (fails) {
                                api.happen("/pods", event);
                            }
                            return read(reader, pod, fails);
                        },
                        this::onEvent,
                        Duration.ofMillis(1),
                        Optional::empty,
                        Clock.systemUTC());
        try (watch) {
            watch.start();

            assertThat(changed.get(20, TimeUnit.SECONDS)).isEqualTo("8");
            assertThat(passed.get(20, TimeUnit.SECONDS))
                    .as("goes on from before them")
                    .isEqualTo("1");
        }
    }

    /** The API server's own words: the object is the one before it lost the label. */
    private static final String LEFT =
            """
            {"type": "DELETED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
              "namespace": "team-a", "creationTimestamp": "2026-03-02T10:00:00Z", "resourceVersion": "8",
              "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"%s},
             "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}, "status": {"phase": "Running"}}}
            """;

    private static final String THERE =
            """
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "team-a",
              "creationTimestamp": "2026-03-02T10:00:00Z", "uid": "%s"},
             "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}}
            """;

    private static final String REMOVAL =
            ", \"deletionTimestamp\": \"2026-03-02T10:05:00Z\", \"deletionGracePeriodSeconds\": 0";

    private String whatLeft(String event) throws Exception {
        api.happen("/pods", event.replace("\n", ""));
        var watch =
                new PodWatch(
                        api.client(),
                        new PodReader(resource -> false)::read,
                        this::onEvent,
                        Duration.ofMillis(1),
                        Optional::empty,
                        Clock.systemUTC());
        try (watch) {
            watch.start();
            return left.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void aPodThatLostItsLabelIsNotGone() throws Exception {
        api.store("/pods/p", THERE.formatted("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"));

        assertThat(whatLeft(LEFT.formatted(""))).isEqualTo("unlabelled p on n1");
    }

    /** Its grace may be a year, in which it computes. */
    @Test
    void aPodThatLosesItsLabelWhileItIsBeingDeletedIsNotGone() throws Exception {
        String terminating =
                ", \"deletionTimestamp\": \"2027-03-02T10:05:00Z\", \"deletionGracePeriodSeconds\": 31536000";
        api.store("/pods/p", THERE.formatted("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"));

        assertThat(whatLeft(LEFT.formatted(terminating))).isEqualTo("unlabelled p on n1");
    }

    @Test
    void aPodWhoseNameAnotherPodHasNowIsGone() throws Exception {
        api.store("/pods/p", THERE.formatted("7b1f0d0c-4f83-4a0e-9d3b-1f0a4f6b1c2d"));

        assertThat(whatLeft(LEFT.formatted(""))).isEqualTo("removed p");
    }

    @Test
    void aPodThatCannotBeFoundIsGone() throws Exception {
        api.store("/pods/p", "");

        assertThat(whatLeft(LEFT.formatted(""))).isEqualTo("removed p");
    }

    @Test
    void aPodWhoseObjectShowsItsRemovalIsNotQueried() throws Exception {
        assertThat(whatLeft(LEFT.formatted(REMOVAL))).isEqualTo("removed p");
        assertThat(api.to("/pods/p")).isEmpty();
    }

    private static PodFacts read(PodReader reader, Pod pod, boolean fails) {
        if (fails) {
            throw new IllegalStateException("a pod like no other");
        }
        return reader.read(pod);
    }

    private void onEvent(PodEvent event) {
        switch (event) {
            case Listed it -> listed.complete(it.pods());
            case Updated it -> changed.complete(it.position());
            case Deleted it -> left.complete("removed " + it.pod().name());
            case Unlabelled(PodFacts pod, String _, Instant _) ->
                    left.complete(
                            "unlabelled %s on %s".formatted(pod.name(), pod.placement().node()));
            case Bookmark it -> passed.complete(it.position());
            case Resync _ -> throw new IllegalStateException("the watch does not sweep");
        }
    }
}

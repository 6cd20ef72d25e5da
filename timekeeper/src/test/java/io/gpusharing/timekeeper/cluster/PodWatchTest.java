package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
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
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class PodWatchTest {

    private final FakeApiServer api = new FakeApiServer();
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final Rounds watching =
            new Rounds(
                    "watching",
                    Duration.ofMillis(1),
                    LoggerFactory.getLogger(PodWatchTest.class),
                    Clock.systemUTC());
    private final List<PodEvent> events = new CopyOnWriteArrayList<>();
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
                        unreadable,
                        pod -> read(reader, pod, failing.getAndSet(false)),
                        this::onEvent,
                        Duration.ofMillis(1),
                        Optional::empty,
                        watching,
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
                        unreadable,
                        reader::read,
                        this::onEvent,
                        Duration.ofMillis(1),
                        () -> Optional.of("7"),
                        watching,
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
                        unreadable,
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
                        watching,
                        Clock.systemUTC());
        try (watch) {
            watch.start();

            assertThat(changed.get(20, TimeUnit.SECONDS)).isEqualTo("8");
            assertThat(passed.get(20, TimeUnit.SECONDS))
                    .as("goes on from before them")
                    .isEqualTo("1");
        }
    }

    /** Only the last list says that what had happened in between is not reported. */
    @Test
    void aPositionThatTheApiServerHasForgottenIsGivenUp() throws Exception {
        api.happen(
                "/pods",
                happened(
                        "ERROR",
                        """
                        {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired",
                         "message": "too old resource version: 7 (9)", "code": 410}
                        """
                                .replace("\n", "")));
        var watch =
                new PodWatch(
                        api.client(),
                        unreadable,
                        new PodReader(resource -> false)::read,
                        this::onEvent,
                        Duration.ofMillis(1),
                        () -> Optional.of("7"),
                        watching,
                        Clock.systemUTC());
        try (watch) {
            watch.start();

            await().atMost(Duration.ofSeconds(20)).until(() -> lists() > 1);
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() ->
                            assertThat(events)
                                    .filteredOn(Listed.class::isInstance)
                                    .extracting(it -> ((Listed) it).resuming())
                                    .startsWith(true, false));
        }
    }

    /** Each list is a moment: who came and went in between was never seen. */
    @Test
    void whereNoWatchLastsThePartFails() throws Exception {
        api.happen(
                "/pods",
                happened(
                        "ERROR",
                        "{'kind': 'Status', 'apiVersion': 'v1', 'code': 410}".replace('\'', '"')));
        var watch =
                new PodWatch(
                        api.client(),
                        unreadable,
                        new PodReader(resource -> false)::read,
                        this::onEvent,
                        Duration.ofMillis(1),
                        Optional::empty,
                        watching,
                        Clock.systemUTC());
        try (watch) {
            watch.start();

            await().atMost(Duration.ofSeconds(20)).until(watching::failing);
            assertThat(lists()).isGreaterThan(5);
        }
    }

    private static final UUID ODD = UUID.fromString("7b1f0d0c-4f83-4a0e-9d3b-1f0a4f6b1c2d");

    private static String pod(String name, UUID uid, String version) {
        return """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "team-a",
          "creationTimestamp": "2026-03-02T10:00:00Z", "resourceVersion": "%s", "uid": "%s"},
         "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}}
        """
                .formatted(name, version, uid)
                .replace("\n", "");
    }

    private static String happened(String type, String pod) {
        return "{\"type\": \"%s\", \"object\": %s}".formatted(type, pod);
    }

    private void answer(String... pods) {
        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [%s]}
                """
                        .formatted(String.join(", ", pods)));
    }

    private long lists() {
        return api.to("/pods").stream().filter(it -> !it.query().contains("watch=true")).count();
    }

    private PodWatch watchThatCannotRead(String name, Clock clock, Runnable onRemoval) {
        var reader = new PodReader(resource -> false);
        return new PodWatch(
                api.client(),
                unreadable,
                pod -> {
                    if (pod.getMetadata().getName().equals(name)) {
                        if ("8".equals(pod.getMetadata().getResourceVersion())) {
                            onRemoval.run();
                        }
                        throw new IllegalArgumentException("a pod like no other");
                    }
                    return reader.read(pod);
                },
                this::onEvent,
                Duration.ofMillis(1),
                Optional::empty,
                watching,
                clock);
    }

    @Test
    void onePodThatCannotBeReadLosesNoOther() throws Exception {
        answer(pod("odd", ODD, "2"), pod("p", UUID.randomUUID(), "3"));
        api.happen(
                "/pods",
                happened("MODIFIED", pod("odd", ODD, "8"))
                        + "\n"
                        + happened("MODIFIED", pod("p", UUID.randomUUID(), "9")));
        try (var watch = watchThatCannotRead("odd", Clock.systemUTC(), () -> {})) {
            watch.start();

            assertThat(changed.get(20, TimeUnit.SECONDS)).isEqualTo("9");
            assertThat(passed.get(20, TimeUnit.SECONDS)).as("and went on").isEqualTo("8");
            assertThat(lists()).isEqualTo(1);
            assertThat(events.getFirst())
                    .isInstanceOfSatisfying(
                            Listed.class,
                            it -> {
                                assertThat(it.pods())
                                        .extracting(PodFacts::name)
                                        .containsExactly("p");
                                assertThat(it.unread()).containsExactly(ODD);
                            });
            assertThat(unreadable.present()).extracting(it -> it.name()).containsExactly("odd");
        }
    }

    /** What happened to others meanwhile is reported after the list, and nothing twice. */
    @Test
    void theRemovalOfAPodThatCannotBeReadIsSeenInOneList() throws Exception {
        answer(pod("odd", ODD, "2"));
        api.happen("/pods", happened("DELETED", pod("odd", ODD, "8")));
        Runnable onRemoval =
                () -> {
                    answer();
                    api.happen("/pods", happened("MODIFIED", pod("p", UUID.randomUUID(), "9")));
                };
        try (var watch = watchThatCannotRead("odd", Clock.systemUTC(), onRemoval)) {
            watch.start();

            assertThat(changed.get(20, TimeUnit.SECONDS)).isEqualTo("9");
            assertThat(passed.get(20, TimeUnit.SECONDS)).as("resumes there").isEqualTo("8");
            assertThat(lists()).isEqualTo(2);
            assertThat(events)
                    .filteredOn(Listed.class::isInstance)
                    .extracting(it -> ((Listed) it).unread())
                    .containsExactly(Set.of(ODD), Set.of());
            assertThat(unreadable.present()).isEmpty();
        }
    }

    @Test
    void whatThePodsSayIsAWordOfTheApiServer() throws Exception {
        var clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
        try (var watch = watchThatCannotRead("odd", clock, () -> {})) {
            watch.start();
            listed.get(20, TimeUnit.SECONDS);
            clock.pass(Duration.ofMinutes(1));

            api.happen("/pods", happened("BOOKMARK", pod("", ODD, "8")));

            await().atMost(Duration.ofSeconds(20))
                    .until(() -> watch.heard().equals(clock.instant()));
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
                        unreadable,
                        new PodReader(resource -> false)::read,
                        this::onEvent,
                        Duration.ofMillis(1),
                        Optional::empty,
                        watching,
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
            throw new KubernetesClientException("a claim cannot be asked for");
        }
        return reader.read(pod);
    }

    private void onEvent(PodEvent event) {
        events.add(event);
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

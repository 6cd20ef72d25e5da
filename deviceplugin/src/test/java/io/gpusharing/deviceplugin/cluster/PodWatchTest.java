package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cluster.FakeApiServer.Request;
import io.gpusharing.request.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodWatchTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir private Path folder;

    private final Pauses pauses = new Pauses();
    private final AtomicLong nanos = new AtomicLong();
    private final Semaphore changes = new Semaphore(0);
    private final LoggedLines logged = new LoggedLines();
    private FakeApiServer cluster;
    private ApiServer api;
    private PodWatch watch;

    @BeforeEach
    void prepare() throws IOException {
        cluster = new FakeApiServer(folder);
        api = cluster.client();
        watch = watch(Duration.ofHours(1));
        logged.begin();
    }

    private PodWatch watch(Duration beforeDoubt) {
        return new PodWatch(
                api,
                "gpu-1",
                Set.of("tencent.com/vcuda-core"),
                changes::release,
                pauses.backoff(),
                nanos::get,
                beforeDoubt);
    }

    @AfterEach
    void end() {
        logged.end();
        watch.close();
        api.close();
        cluster.close();
    }

    @Test
    void knowsTheNodesPodsOnceTheyAreListed() throws Exception {
        cluster.put(TestPods.half("a", "one"));
        assertThat(watch.isListed()).isFalse();

        watch.start();
        NodePod pod = watch.await("a", LONG).orElseThrow();

        assertThat(watch.isListed()).isTrue();
        assertThat(pod.namespace()).isEqualTo("team");
        assertThat(pod.name()).isEqualTo("one");
        assertThat(pod.annotations()).containsOnlyKeys("gpusharing.io/placement");
        assertThat(pod.request().containers().getFirst().amount("tencent.com/vcuda-core"))
                .contains(Quantity.of(50));
        assertThat(cluster.lists().getFirst().parameter("fieldSelector"))
                .isEqualTo("spec.nodeName%3Dgpu-1");
    }

    @Test
    void aNodeWithoutPodsIsCurrentToo() throws Exception {
        watch.start();
        changed();

        assertThat(watch.isListed()).isTrue();
        assertThat(watch.byUid("a")).isEmpty();
    }

    @Test
    void whoWaitsForAPodIsWokenWhenItArrives() throws Exception {
        watch.start();
        Request from = cluster.nextWatch();
        CompletableFuture<Optional<NodePod>> waiting = waitingFor("a");

        cluster.put(TestPods.half("b", "two"));
        cluster.put(TestPods.half("a", "one"));

        assertThat(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)).isPresent();
        assertThat(from.parameter("allowWatchBookmarks")).isEqualTo("true");
        assertThat(Integer.parseInt(from.parameter("timeoutSeconds"))).isBetween(240, 360);
    }

    @Test
    void whoWaitsInVainIsToldSo() throws Exception {
        watch.start();
        changed();

        assertThat(watch.await("a", Duration.ofMillis(1))).isEmpty();
    }

    @Test
    void followsAPodToItsEnd() throws Exception {
        start();
        JsonObject pod = TestPods.half("a", "one");
        cluster.put(pod);
        changed();
        assertThat(known("a").running()).isEmpty();

        cluster.put(TestPods.running("a", "one"));
        changed();
        assertThat(known("a").running()).containsOnlyKeys("cuda");

        cluster.put(TestPods.failed("a", "one"));
        changed();
        assertThat(known("a").ended()).isTrue();

        cluster.delete(pod);
        changed();
        assertThat(watch.byUid("a")).isEmpty();
    }

    @Test
    void saysNothingOfChangesThatDoNotConcernUs() throws Exception {
        start();
        JsonObject pod = TestPods.half("a", "one");
        cluster.put(pod);
        changed();

        pod.getAsJsonObject("status").addProperty("message", "somebody's note");
        cluster.put(pod);
        cluster.put(TestPods.half("b", "two"));
        changed();

        assertThat(watch.byUid("b")).isPresent();
        assertThat(changes.availablePermits()).isZero();
    }

    @Test
    void aPodRecreatedUnderItsNameIsAnother() throws Exception {
        start();
        JsonObject first = TestPods.half("a", "one");
        cluster.put(first);
        changed();

        cluster.delete(first);
        cluster.put(TestPods.half("b", "one"));

        assertThat(watch.await("b", LONG)).isPresent();
        assertThat(watch.byUid("a")).isEmpty();
    }

    @Test
    void aNameThatAnotherPodHasNowIsFreeOfTheFirst() throws Exception {
        start();
        cluster.put(TestPods.half("a", "one"));
        changed();

        cluster.put(TestPods.half("b", "one"));

        assertThat(watch.await("b", LONG)).isPresent();
        assertThat(watch.byUid("a")).isEmpty();
    }

    @Test
    void aWatchThatEndsGoesOnWhereItWas() throws Exception {
        start();
        cluster.put(TestPods.half("a", "one"));
        changed();

        cluster.endWatches();

        assertThat(cluster.nextWatch().parameter("resourceVersion"))
                .isEqualTo("" + cluster.version());
        cluster.put(TestPods.half("b", "two"));
        assertThat(watch.await("b", LONG)).isPresent();
        assertThat(cluster.lists()).hasSize(1);
        assertThat(logged.lines).isEmpty();
    }

    @Test
    void aWatchThatIsCutInTheMiddleOfALineGoesOnWhereItWas() throws Exception {
        start();
        cluster.put(TestPods.half("a", "one"));
        changed();
        long seen = cluster.version();

        cluster.say("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"b\"");
        cluster.endWatches();

        assertThat(cluster.nextWatch().parameter("resourceVersion")).isEqualTo("" + seen);
        assertThat(watch.byUid("b")).isEmpty();
    }

    @Test
    void aWatchThatEndsWithoutAWordIsNotBegunAgainAtOnce() throws Exception {
        start();

        cluster.endWatches();

        assertThat(pauses.next()).isEqualTo(Duration.ofMillis(500));
        pauses.end();
        cluster.nextWatch();
    }

    @Test
    void aBookmarkIsWhereAWatchGoesOn() throws Exception {
        start();

        cluster.say(
                """
                {"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"4711"}}}\
                """);
        cluster.endWatches();

        assertThat(cluster.nextWatch().parameter("resourceVersion")).isEqualTo("4711");
        assertThat(changes.availablePermits()).isZero();
    }

    @Test
    void whatWasMissedIsListedAndReplacesWhatWasKnown() throws Exception {
        JsonObject gone = TestPods.half("a", "one");
        cluster.put(gone);
        cluster.put(TestPods.half("b", "two"));
        start();
        pauses.endAll();

        cluster.mute();
        cluster.delete(gone);
        cluster.put(TestPods.half("c", "three"));
        cluster.forget();
        cluster.endWatches();
        cluster.unmute();

        assertThat(watch.await("c", LONG)).isPresent();
        assertThat(watch.byUid("a")).isEmpty();
        assertThat(watch.byUid("b")).isPresent();
        assertThat(cluster.lists()).hasSize(2);
        assertThat(logged.lines).isEmpty();
    }

    @Test
    void anOutageIsLoggedOnceAndSoIsItsEnd() throws Exception {
        cluster.put(TestPods.half("a", "one"));
        start();

        cluster.answerAll(503, FakeApiServer.status(503, "etcd is away"));
        assertThat(pauses.next()).isEqualTo(Duration.ofMillis(500));
        for (int i = 0; i < 8; i++) {
            pauses.end();
            assertThat(pauses.next()).isLessThanOrEqualTo(Duration.ofSeconds(30));
        }

        assertThat(watch.byUid("a")).as("what is known stays known").isPresent();
        assertThat(logged.lines).hasSize(1);
        assertThat(logged.lines.getFirst()).contains("failing, trying again", "etcd is away");

        cluster.recover();
        cluster.put(TestPods.half("b", "two"));
        pauses.endAll();
        assertThat(watch.await("b", LONG)).isPresent();
        cluster.nextWatch();
        assertThat(logged.lines).hasSize(2);
        assertThat(logged.lines.getLast()).contains("working again");
    }

    @Test
    void anAnswerThatIsNoJsonIsAnOutage() throws Exception {
        start();

        cluster.answerAll(200, "<html>Sign in</html>");
        pauses.next();
        pauses.end();
        pauses.next();
        cluster.recover();
        cluster.put(TestPods.half("a", "one"));
        pauses.endAll();

        assertThat(watch.await("a", LONG)).isPresent();
        assertThat(logged.lines).hasSize(2);
    }

    @Test
    void aTokenThatKubeletHasRenewedIsTheOneThatIsUsed() throws Exception {
        cluster.takeToken("second");
        watch.start();
        pauses.next();
        assertThat(logged.lines.getFirst()).contains("401", "Unauthorized");

        Files.writeString(folder.resolve("token"), "second");
        pauses.endAll();

        changed();
        assertThat(watch.isListed()).isTrue();
    }

    @Test
    void aWatchThatIsSilentForTooLongIsBegunAgain() throws Exception {
        start();
        cluster.put(TestPods.half("b", "two"));
        changed();
        nanos.addAndGet(Duration.ofSeconds(149).toNanos());
        watch.endIfSilent();
        cluster.put(TestPods.half("c", "three"));
        changed();
        nanos.addAndGet(Duration.ofSeconds(149).toNanos());
        watch.endIfSilent();
        cluster.mute();
        cluster.put(TestPods.half("a", "one"));
        cluster.unmute();

        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        watch.endIfSilent();
        pauses.endAll();

        assertThat(watch.await("a", LONG)).isPresent();
        assertThat(cluster.lists()).hasSize(1);
        assertThat(logged.lines).isEmpty();
    }

    @Test
    void aPodThatDoesNotArriveIsAReasonToListAgainButNotAlways() throws Exception {
        watch = watch(Duration.ofMillis(1));
        start();
        // Its connection is dead, and does not look it.
        cluster.mute();
        cluster.put(TestPods.half("a", "one"));

        assertThat(watch.await("a", LONG)).isPresent();
        assertThat(cluster.lists()).hasSize(2);

        cluster.nextWatch();
        assertThat(watch.await("b", Duration.ofMillis(1))).isEmpty();
        assertThat(cluster.lists()).hasSize(2);

        nanos.addAndGet(Duration.ofSeconds(30).toNanos());
        cluster.put(TestPods.half("b", "two"));
        assertThat(watch.await("b", LONG)).isPresent();
        assertThat(cluster.lists()).hasSize(3);
    }

    private void start() throws InterruptedException {
        watch.start();
        cluster.nextWatch();
        changed();
    }

    /** Waits until the watch has told of a change. */
    private void changed() throws InterruptedException {
        assertThat(changes.tryAcquire(LONG.toSeconds(), TimeUnit.SECONDS)).as("a change").isTrue();
    }

    private NodePod known(String uid) {
        return watch.byUid(uid).orElseThrow();
    }

    private CompletableFuture<Optional<NodePod>> waitingFor(String uid) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return watch.await(uid, LONG);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                Executors.newVirtualThreadPerTaskExecutor());
    }

    /** What the watch logs. */
    private static final class LoggedLines extends Handler {

        private final List<String> lines = new CopyOnWriteArrayList<>();
        private final Logger logger = Logger.getLogger(PodWatch.class.getName());

        void begin() {
            logger.setUseParentHandlers(false);
            logger.addHandler(this);
        }

        void end() {
            logger.removeHandler(this);
            logger.setUseParentHandlers(true);
        }

        @Override
        public void publish(LogRecord line) {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}

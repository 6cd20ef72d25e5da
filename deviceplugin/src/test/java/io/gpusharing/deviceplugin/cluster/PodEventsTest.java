package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.gpusharing.deviceplugin.cluster.PodEvents.PodName;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodEventsTest {

    private static final PodName POD = new PodName("u-1", "team", "trainer");
    private static final PodName OTHER = new PodName("u-2", "team", "other");

    @TempDir private Path folder;

    private final Pauses pauses = new Pauses();
    private final AtomicReference<Instant> now =
            new AtomicReference<>(Instant.parse("2026-11-25T10:00:00.123456789Z"));
    private FakeApiServer cluster;
    private ApiServer api;
    private PodEvents events;

    @BeforeEach
    void start() throws IOException {
        cluster = new FakeApiServer(folder);
        api = cluster.client();
        events = new PodEvents(api, "gpu-1", pauses.backoff(), now::get);
    }

    @AfterEach
    void end() {
        events.close();
        api.close();
        cluster.close();
    }

    @Test
    void writesAnEventAsKubectlDescribeShowsIt() throws Exception {
        events.tell(POD, PodEvents.Type.Warning, "GpuUnhealthy", "GPU-0 failed: XID 79");

        var request = cluster.nextChange();
        JsonObject event = JsonParser.parseString(request.body()).getAsJsonObject();
        JsonObject metadata = event.getAsJsonObject("metadata");
        assertThat(request.path()).isEqualTo("/api/v1/namespaces/team/events");
        assertThat(metadata.get("name").getAsString()).matches("trainer\\.[0-9a-f]{16}");
        event.remove("metadata");
        assertThat(event)
                .isEqualTo(
                        JsonParser.parseString(
                                """
                                {"apiVersion":"v1","kind":"Event","involvedObject":{"apiVersion":"v1",
                                  "kind":"Pod","namespace":"team","name":"trainer","uid":"u-1"},
                                 "type":"Warning","reason":"GpuUnhealthy","action":"GpuUnhealthy",
                                 "message":"GPU-0 failed: XID 79",
                                 "source":{"component":"gpusharing-device-plugin","host":"gpu-1"},
                                 "firstTimestamp":"2026-11-25T10:00:00Z",
                                 "lastTimestamp":"2026-11-25T10:00:00Z",
                                 "eventTime":"2026-11-25T10:00:00.123456Z","count":1,
                                 "reportingComponent":"gpusharing-device-plugin",
                                 "reportingInstance":"gpu-1"}
                                """));
    }

    @Test
    void writesAnEventOnTheNodeWhereKubectlDescribeLooksForIt() throws Exception {
        events.tellNode(PodEvents.Type.Warning, "GpusOpen", "anybody can");

        var request = cluster.nextChange();
        JsonObject event = JsonParser.parseString(request.body()).getAsJsonObject();
        assertThat(request.path()).isEqualTo("/api/v1/namespaces/default/events");
        assertThat(event.getAsJsonObject("metadata").get("namespace").getAsString())
                .isEqualTo("default");
        assertThat(event.get("involvedObject"))
                .isEqualTo(
                        JsonParser.parseString(
                                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"gpu-1\",\"uid\":\"gpu-1\"}"));
    }

    @Test
    void tellsOneReasonOfOnePodOnceInFiveMinutes() throws Exception {
        events.tell(POD, PodEvents.Type.Warning, "Waiting", "one");
        events.tell(POD, PodEvents.Type.Warning, "Waiting", "two");
        events.tell(OTHER, PodEvents.Type.Warning, "Waiting", "three");
        events.tell(POD, PodEvents.Type.Warning, "Refused", "four");
        now.updateAndGet(it -> it.plus(Duration.ofMinutes(5)));
        events.tell(POD, PodEvents.Type.Warning, "Waiting", "five");

        assertThat(nextMessage()).isEqualTo("one");
        assertThat(nextMessage()).isEqualTo("three");
        assertThat(nextMessage()).isEqualTo("four");
        assertThat(nextMessage()).isEqualTo("five");
    }

    @Test
    void nobodyWaitsWhileTheApiServerIsAway() throws Exception {
        cluster.answerAll(503, "");
        for (int i = 0; i < 10_000; i++) {
            events.tell(POD, PodEvents.Type.Normal, "Reason" + i, "message");
        }
        pauses.next();
        cluster.recover();
        pauses.endAll();

        assertThat(nextMessage()).isEqualTo("message");
    }

    @Test
    void givesUpAnEventThatCannotBeWritten() throws Exception {
        cluster.answerAll(503, "");
        events.tell(POD, PodEvents.Type.Normal, "First", "first");
        events.tell(POD, PodEvents.Type.Normal, "Second", "second");
        for (int i = 0; i < 9; i++) {
            pauses.next();
            pauses.end();
        }
        pauses.next();
        cluster.recover();
        pauses.end();

        assertThat(nextMessage()).isEqualTo("second");
    }

    @Test
    void aRefusedEventDoesNotHoldUpOthers() throws Exception {
        cluster.answerAll(403, FakeApiServer.status(403, "events is forbidden"));
        events.tell(POD, PodEvents.Type.Normal, "First", "first");
        events.tell(POD, PodEvents.Type.Normal, "Second", "second");
        while (cluster.requests.size() < 2) {
            Thread.onSpinWait();
        }
        cluster.recover();
        events.tell(POD, PodEvents.Type.Normal, "Third", "third");

        String message = nextMessage();
        // The second may have been answered after the recovery.
        assertThat(message.equals("second") ? nextMessage() : message).isEqualTo("third");
    }

    @Test
    void cutsWhatIsLongerThanKubernetesTakes() throws Exception {
        events.tell(
                new PodName("u", "team", "p".repeat(253)),
                PodEvents.Type.Normal,
                "Long",
                "m".repeat(5_000));

        JsonObject event = JsonParser.parseString(cluster.nextChange().body()).getAsJsonObject();
        assertThat(event.get("message").getAsString()).hasSize(1024);
        assertThat(event.getAsJsonObject("metadata").get("name").getAsString())
                .hasSizeLessThanOrEqualTo(253);
        assertThat(event.getAsJsonObject("involvedObject").get("name").getAsString()).hasSize(253);
    }

    private String nextMessage() throws InterruptedException {
        return JsonParser.parseString(cluster.nextChange().body())
                .getAsJsonObject()
                .get("message")
                .getAsString();
    }
}

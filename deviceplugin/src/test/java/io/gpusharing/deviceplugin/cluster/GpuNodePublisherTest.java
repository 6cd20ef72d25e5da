package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.gpusharing.deviceplugin.cluster.FakeApiServer.Request;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuNodePublisherTest {

    private static final String ALL = "/apis/gpusharing.io/v1alpha1/gpunodes";
    private static final String OURS = ALL + "/gpu-1";

    @TempDir private Path folder;

    private final Pauses pauses = new Pauses();
    private final CountDownLatch exists = new CountDownLatch(2);
    private FakeApiServer cluster;
    private ApiServer api;
    private GpuNodePublisher publisher;

    @BeforeEach
    void start() throws IOException {
        cluster = new FakeApiServer(folder);
        cluster.putObject("/api/v1/nodes/gpu-1", "{\"metadata\":{\"uid\":\"node-uid\"}}");
        api = cluster.client();
        publisher = new GpuNodePublisher(api, "gpu-1", exists::countDown, pauses.backoff());
    }

    @AfterEach
    void end() {
        publisher.close();
        api.close();
        cluster.close();
    }

    @Test
    void createsTheObjectThatBelongsToItsNodeAndWritesItsStatus() throws Exception {
        publisher.publish(() -> status(null));

        assertThat(cluster.nextChange().path()).isEqualTo(ALL);
        assertThat(cluster.nextChange().path()).isEqualTo(OURS + "/status");
        JsonObject written = cluster.object(OURS);
        assertThat(written)
                .isEqualTo(
                        with(
                                """
                                {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuNode","metadata":{
                                 "name":"gpu-1","ownerReferences":[
                                  {"apiVersion":"v1","kind":"Node","name":"gpu-1","uid":"node-uid"}]}}
                                """,
                                status(null)));
    }

    @Test
    void saysThatTheObjectIsThereWhenItHasMadeItAndWhenItFindsIt() throws Exception {
        publisher.publish(() -> status(null));
        created();
        assertThat(exists.getCount()).isEqualTo(1);

        publisher.look();

        assertThat(exists.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void writesOnlyWhatIsDifferent() throws Exception {
        publisher.publish(() -> status(null));
        created();

        publisher.publish(() -> status(null));
        publisher.publish(() -> status("XID 79"));

        assertThat(cluster.nextChange().body()).contains("XID 79");
        publisher.publish(() -> status(null));
        assertThat(cluster.nextChange().body()).doesNotContain("XID 79");
        assertThat(changes()).hasSize(4);
    }

    @Test
    void writesNothingAfterARestartIfNothingHasChanged() throws Exception {
        publisher.publish(() -> status(null));
        created();
        publisher.close();

        try (var next = new GpuNodePublisher(api, "gpu-1", exists::countDown, pauses.backoff())) {
            next.publish(() -> status(null));
            next.publish(() -> status("XID 79"));

            assertThat(cluster.nextChange().body()).contains("XID 79");
            assertThat(changes()).hasSize(3);
        }
    }

    @Test
    void writesTheLastStateAfterAnOutage() throws Exception {
        publisher.publish(() -> status(null));
        created();

        cluster.answerAll(503, FakeApiServer.status(503, "etcd is away"));
        publisher.publish(() -> status("XID 13"));
        pauses.next();
        publisher.publish(() -> status("XID 31"));
        publisher.publish(() -> status("XID 79"));
        cluster.recover();
        pauses.endAll();

        assertThat(cluster.nextChange().body()).contains("XID 79");
        assertThat(cluster.object(OURS).toString()).contains("XID 79");
    }

    @Test
    void writesNothingAfterAnOutageIfItIsThereAlready() throws Exception {
        publisher.publish(() -> status(null));
        created();

        cluster.answerAll(503, FakeApiServer.status(503, "etcd is away"));
        publisher.publish(() -> status("XID 13"));
        pauses.next();
        publisher.publish(() -> status(null));
        cluster.recover();
        pauses.endAll();
        publisher.publish(() -> status("XID 79"));

        assertThat(cluster.nextChange().body()).contains("XID 79");
    }

    @Test
    void makesAnewWhatSomebodyHasDeleted() throws Exception {
        publisher.publish(() -> status(null));
        created();

        cluster.removeObject(OURS);
        publisher.publish(() -> status("XID 79"));
        pauses.endAll();

        assertThat(cluster.nextChange().path()).as("does not find it").isEqualTo(OURS + "/status");
        created();
        assertThat(cluster.object(OURS).toString()).contains("XID 79");
    }

    @Test
    void mendsNowAndThenWhatSomebodyHasChanged() throws Exception {
        publisher.publish(() -> status(null));
        created();
        JsonObject right = cluster.object(OURS).deepCopy();

        cluster.putObject(OURS, with(right.toString(), status("nonsense")).toString());
        publisher.look();

        assertThat(cluster.nextChange().path()).isEqualTo(OURS + "/status");
        assertThat(cluster.object(OURS)).isEqualTo(right);
    }

    @Test
    void takesOverWhatBelongedToANodeOfTheSameName() throws Exception {
        cluster.putObject(
                OURS,
                """
                {"metadata":{"name":"gpu-1","ownerReferences":[
                 {"apiVersion":"v1","kind":"Node","name":"gpu-1","uid":"gone"}]}}\
                """);

        publisher.publish(() -> status(null));

        assertThat(cluster.nextChange().path()).isEqualTo(OURS);
        cluster.nextChange();
        assertThat(cluster.object(OURS).toString()).contains("node-uid").doesNotContain("gone");
    }

    private void created() throws InterruptedException {
        assertThat(cluster.nextChange().path()).isEqualTo(ALL);
        assertThat(cluster.nextChange().path()).isEqualTo(OURS + "/status");
    }

    private List<Request> changes() {
        return cluster.requests.stream()
                .filter(request -> !request.method().equals("GET"))
                .toList();
    }

    private static JsonElement with(String object, GpuNodeStatus status) {
        JsonObject json = JsonParser.parseString(object).getAsJsonObject();
        json.add("status", status.json());
        return json;
    }

    private static GpuNodeStatus status(@Nullable String fault) {
        var gpu = new PhysicalGpu(0, "GPU-0", 0, "NVIDIA H200", 143_771, "", false);
        return GpuNodeStatus.of(
                GpuNodeStatus.TIME_SLICE,
                List.of(),
                List.of(new NodeGpu(gpu, fault)),
                List.of(),
                List.of(),
                device -> null);
    }
}

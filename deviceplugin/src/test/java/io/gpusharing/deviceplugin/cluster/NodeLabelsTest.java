package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.cluster.NodeLabels.Isolation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeLabelsTest {

    private static final String NODE = "/api/v1/nodes/gpu-1";

    @TempDir private Path folder;

    private final Pauses pauses = new Pauses();
    private FakeApiServer cluster;
    private ApiServer api;
    private NodeLabels labels;

    @BeforeEach
    void start() throws IOException {
        cluster = new FakeApiServer(folder);
        cluster.putObject(
                NODE,
                "{\"metadata\":{\"uid\":\"u\",\"labels\":{\"gpusharing.io/gpus\":\"shared\"}}}");
        api = cluster.client();
        labels = new NodeLabels(api, "gpu-1", pauses.backoff());
    }

    @AfterEach
    void end() {
        labels.close();
        api.close();
        cluster.close();
    }

    @Test
    void setsAndRemovesItsLabelAndNoOther() throws Exception {
        labels.isolation(Optional.of(Isolation.Open));
        cluster.nextChange();
        assertThat(labels())
                .isEqualTo(
                        "{\"gpusharing.io/gpus\":\"shared\",\"gpusharing.io/isolation\":\"Open\"}");

        labels.isolation(Optional.empty());
        cluster.nextChange();
        assertThat(labels()).isEqualTo("{\"gpusharing.io/gpus\":\"shared\"}");
    }

    @Test
    void writesOnlyWhatIsDifferent() throws Exception {
        cluster.putObject(
                NODE,
                "{\"metadata\":{\"uid\":\"u\",\"labels\":{\"gpusharing.io/isolation\":\"Open\"}}}");

        labels.isolation(Optional.of(Isolation.Open));
        labels.isolation(Optional.of(Isolation.Open));
        labels.isolation(Optional.of(Isolation.Closed));

        assertThat(cluster.nextChange().body()).contains("Closed");
        assertThat(cluster.requests.stream().filter(it -> it.method().equals("PATCH"))).hasSize(1);
    }

    @Test
    void aNodeWithoutTheLabelIsLeftAlone() throws Exception {
        labels.isolation(Optional.empty());
        labels.isolation(Optional.of(Isolation.Closed));

        assertThat(cluster.nextChange().body()).contains("Closed");
    }

    @Test
    void triesUntilTheApiServerIsBack() throws Exception {
        cluster.answerAll(500, "");
        labels.isolation(Optional.of(Isolation.Open));
        pauses.next();
        cluster.recover();
        pauses.endAll();

        cluster.nextChange();
        assertThat(labels()).contains("Open");
    }

    private String labels() {
        return cluster.object(NODE).getAsJsonObject("metadata").get("labels").toString();
    }
}

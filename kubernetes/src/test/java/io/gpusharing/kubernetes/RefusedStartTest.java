package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RefusedStartTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final UUID POD = UUID.fromString("6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11");

    private final List<RuntimeException> unread = new ArrayList<>();

    private static GpuNode node(GpuNodeStatus.Refused... refused) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName("gpu-1").build());
        node.setStatus(new GpuNodeStatus(null, null, List.of(refused)));
        return node;
    }

    private static GpuNodeStatus.Refused refused(
            String uid, String namespace, String name, String since) {
        return new GpuNodeStatus.Refused(uid, namespace, name, since, null, true, false, "no");
    }

    @Test
    void isReadFromWhatADevicePluginWrites() {
        GpuNode node =
                ApiServerJson.serialization()
                        .unmarshal(
                                """
                                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNode",
                                 "metadata": {"name": "gpu-1"},
                                 "status": {"tier": "TimeSlice", "gpuCount": 1, "gpus": [{"uuid": "GPU-0"}],
                                  "refused": [
                                   {"podUid": "%s", "namespace": "team-a", "pod": "train",
                                    "since": "2026-03-02T10:00:00.5Z", "final": true, "ran": false,
                                    "reason": "It fits on no GPU of this node"},
                                   {"podUid": "no UUID", "namespace": "team-a", "pod": "other",
                                    "since": "2026-03-02T10:00:00Z", "final": true, "ran": false,
                                    "reason": ""}]}}
                                """
                                        .formatted(POD),
                                GpuNode.class);

        assertThat(RefusedStart.of(node, unread::add))
                .containsExactly(
                        new RefusedStart(
                                "gpu-1",
                                POD,
                                "team-a",
                                "train",
                                TEN.plusMillis(500),
                                null,
                                true,
                                false,
                                "It fits on no GPU of this node"));
        assertThat(unread).as("the other one").hasSize(1);
    }

    @Test
    void aPluginThatIsOlderOrSaysNonsenseRefusesNobody() {
        var older = new GpuNode();
        assertThat(RefusedStart.of(older, unread::add)).isEmpty();
        older.setStatus(new GpuNodeStatus(null, null, null));
        assertThat(RefusedStart.of(older, unread::add)).isEmpty();
        assertThat(unread).isEmpty();

        assertThat(
                        RefusedStart.of(
                                node(
                                        refused(
                                                POD.toString(),
                                                "team-a",
                                                "train",
                                                Instant.MAX.toString()),
                                        refused(POD.toString(), " ", "", TEN.toString())),
                                unread::add))
                .isEmpty();
        assertThat(unread).hasSize(2);
        assertThat(unread.getLast()).hasMessage("\" \" is no name of a pod or a namespace");
    }
}

package io.gpusharing.e2e.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.gpusharing.e2e.cluster.TestCluster;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The GpuReservations of a cluster, from some moment on. */
final class KeptRooms implements Watcher<GenericKubernetesResource>, AutoCloseable {

    private static final Duration SOON = Duration.ofSeconds(30);

    private final List<GenericKubernetesResource> seen = new CopyOnWriteArrayList<>();
    private @Nullable Watch watch;

    static KeptRooms watch(TestCluster cluster) {
        var rooms = new KeptRooms();
        rooms.watch =
                cluster.client()
                        .genericKubernetesResources("gpusharing.io/v1alpha1", "GpuReservation")
                        .watch(rooms);
        return rooms;
    }

    /** As the scheduler and the timekeeper write them: all of the node's two GPUs. */
    static void keep(TestCluster cluster, String uid, String node) {
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: gpusharing.io/v1alpha1
                        kind: GpuReservation
                        metadata: {name: %1$s}
                        spec:
                          pod: {namespace: placement, name: gone-soon, uid: %1$s}
                          priority: 0
                          madeBy: Reclaim
                          node: %2$s
                          gpus:
                          - {uuid: %2$s-gpu-0, core: 100, memoryMiB: 0, whole: true}
                          - {uuid: %2$s-gpu-1, core: 100, memoryMiB: 0, whole: true}
                          until: "2100-01-01T00:00:00Z"
                        """
                                .formatted(uid, node),
                        "create",
                        "-f",
                        "-")
                .orFail();
    }

    static void awaitNone(TestCluster cluster) {
        await("they are deleted")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        cluster.kubectl()
                                                .run("get", "gpureservations", "--output=name")
                                                .orFail())
                                .isBlank());
    }

    /** One was made for this pod, of this GPU, and has been deleted. */
    void awaitOneFor(String pod, String gpu) {
        await("it has been kept and is not any more")
                .atMost(SOON)
                .untilAsserted(() -> {
                    assertThat(seen)
                            .hasSize(2)
                            .allSatisfy(room -> {
                                assertThat(room.<String>get("spec", "pod", "name")).isEqualTo(pod);
                                assertThat(room.<List<?>>get("spec", "gpus").toString())
                                        .contains("uuid=" + gpu);
                            });
                });
    }

    @Override
    public void eventReceived(Action action, GenericKubernetesResource reservation) {
        seen.add(reservation);
    }

    @Override
    public void onClose(WatcherException cause) {}

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
    }
}

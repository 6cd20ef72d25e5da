package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GpuNodeTest {

    private static final GpuNodeStatus.Gpu GPU =
            new GpuNodeStatus.Gpu(
                    "GPU-1", 3L, "NVIDIA H200", 15_360L, false, "Healthy", null, "Idle", List.of());

    private static SharedNode shared(GpuNode node) {
        return SharedNode.of(node.getMetadata().getName(), node.getStatus());
    }

    @Test
    void itsGpusAreSharedByWhatItSaysThatItOffers() {
        assertThat(shared(node(List.of("tencent.com/vcuda-core"))).gpus()).hasSize(1);
    }

    @Test
    void theNumbersOfItsGpusAreThoseOfNvml() {
        assertThat(shared(node(null)).indexes()).containsEntry("GPU-1", 3);
    }

    /** A number that is read as an {@code int} would make every list fail. */
    @Test
    void aNumberThatNoGpuHasIsAProblemOfThisNodeAlone() {
        GpuNode node =
                Serialization.unmarshal(
                        """
                        metadata: {name: node}
                        status:
                          gpus:
                          - {uuid: GPU-1, index: 9223372036854775807, health: Healthy, mode: Idle}
                        """,
                        GpuNode.class);

        assertThatThrownBy(() -> shared(node)).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void anOlderDevicePluginDoesNotSayWhatItOffers() {
        assertThat(shared(node(null)).gpus()).hasSize(1);
    }

    @Test
    void whereAnotherProviderOffersTheGpusNoneAreShared() {
        assertThat(shared(node(List.of())).all().gpus()).isEmpty();
    }

    @Test
    void whoSharesAGpuByMpsHoldsItInADomain() {
        GpuNode node =
                Serialization.unmarshal(
                        """
                        metadata: {name: node}
                        status:
                          tier: Cooperative
                          gpus:
                          - uuid: GPU-1
                            memoryMiB: 16384
                            health: Healthy
                            mode: Shared
                            grants:
                            - {podUid: u-1, container: cuda, core: 30, memoryMiB: 1024, domain: budget/a}
                            - {podUid: u-2, container: cuda, core: 30, memoryMiB: 1024}
                        """,
                        GpuNode.class);

        assertThat(shared(node).servesMps()).isTrue();
        assertThat(shared(node).granted())
                .containsEntry(
                        "u-1",
                        List.of(
                                new GpuHold(
                                        "GPU-1",
                                        30,
                                        1_024,
                                        false,
                                        Sharing.cooperative("budget/a"))))
                .containsEntry("u-2", List.of(new GpuHold("GPU-1", 30, 1_024, false)));
    }

    @Test
    void whoWasRefusedForGoodBeforeAnyOfItsContainersStartedIsGivenNothing() {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName("node").build());
        node.setStatus(
                new GpuNodeStatus(
                        null,
                        List.of(GPU),
                        List.of(
                                refused("for-good", null, true, false),
                                refused("for-now", null, false, false),
                                refused("has-run", null, true, true),
                                refused(
                                        "started-after-all",
                                        "2026-11-26T12:00:00Z",
                                        true,
                                        false))));

        assertThat(shared(node).refused()).containsExactly("for-good");
    }

    private static GpuNodeStatus.Refused refused(
            String uid, @Nullable String until, boolean isFinal, boolean ran) {
        return new GpuNodeStatus.Refused(
                uid, "lab", uid, "2026-11-26T11:00:00Z", until, isFinal, ran, "It fits nowhere");
    }

    @Test
    void roomIsKeptUntilALastInstantThatTheApiServerWritesWithFiveDigits() {
        GpuReservation room =
                Serialization.unmarshal(
                        "spec: {priority: 0, until: '10000-01-01T00:59:59Z'}",
                        GpuReservation.class);

        assertThat(room.until()).isEqualTo(Instant.parse("+10000-01-01T00:59:59Z"));
    }

    @Test
    void roomIsKeptInTheDomainOfThePodThatWaits() {
        var held =
                List.of(
                        new GpuHold("GPU-1", 30, 1_024, false, Sharing.cooperative("cluster")),
                        new GpuHold("GPU-2", 30, 1_024, false));
        GpuReservation room =
                GpuReservation.of(
                        new GpuReservation.Waiter("n", "p", "u"),
                        0,
                        GpuReservation.Maker.Reclaim,
                        "node",
                        held,
                        List.of(),
                        Instant.EPOCH);

        String stored = Serialization.asJson(room);

        assertThat(stored).containsOnlyOnce("domain");
        assertThat(Serialization.unmarshal(stored, GpuReservation.class).held()).isEqualTo(held);
    }

    private static GpuNode node(@Nullable List<String> resources) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName("node").build());
        node.setStatus(new GpuNodeStatus(resources, List.of(GPU), null));
        return node;
    }
}

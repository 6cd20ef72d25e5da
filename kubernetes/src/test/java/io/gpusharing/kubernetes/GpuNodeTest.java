package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.Sharing;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GpuNodeTest {

    private static final GpuNode.Gpu GPU =
            new GpuNode.Gpu(
                    "GPU-1", 3L, "NVIDIA H200", 15_360L, false, "Healthy", null, "Idle", List.of());

    @Test
    void itsGpusAreSharedByWhatItSaysThatItOffers() {
        assertThat(node(List.of("tencent.com/vcuda-core")).shared().gpus()).hasSize(1);
    }

    @Test
    void theNumbersOfItsGpusAreThoseOfNvml() {
        assertThat(node(null).shared().indexes()).containsEntry("GPU-1", 3);
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

        assertThatThrownBy(node::shared).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void anOlderDevicePluginDoesNotSayWhatItOffers() {
        assertThat(node(null).shared().gpus()).hasSize(1);
    }

    @Test
    void whereAnotherProviderOffersTheGpusNoneAreShared() {
        assertThat(node(List.of()).shared().all().gpus()).isEmpty();
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

        assertThat(node.shared().servesMps()).isTrue();
        assertThat(node.shared().granted())
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
                new GpuNode.Status(
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

        assertThat(node.shared().refused()).containsExactly("for-good");
    }

    private static GpuNode.Refused refused(
            String uid, @Nullable String until, boolean isFinal, boolean ran) {
        return new GpuNode.Refused(
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
        node.setStatus(new GpuNode.Status(resources, List.of(GPU), null));
        return node;
    }
}

package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedNodeTest {

    private static final SharedNode NODE =
            new SharedNode(
                    "n1",
                    List.of(new Gpu("GPU-0", 100, 16_384), new Gpu("GPU-1", 100, 8_192)),
                    List.of(new Gpu("GPU-sick", 100, 16_384)),
                    Map.of("granted", List.of(hold("GPU-1", 30, 1_024))));

    private static GpuHold hold(String gpu, long cores, long memory) {
        return new GpuHold(gpu, cores, memory, false);
    }

    private static ContainerAsk ask(String container, Kind kind, long cores, String... on) {
        return new ContainerAsk(container, kind, new GpuAsk(1, cores, 2_048, false), Set.of(on));
    }

    @Test
    void whatWasGrantedCountsBeforeWhatIsWritten() {
        assertThat(NODE.held("granted", List.of(ask("cuda", Kind.App, 50, "GPU-0"))))
                .containsExactly(hold("GPU-1", 30, 1_024));
    }

    /** Two GiB are an eighth of the one GPU and a quarter of the other. */
    @Test
    void aShareIsOneOfTheGpuThatAPodIsOn() {
        assertThat(NODE.share("written", List.of(ask("cuda", Kind.App, 10, "GPU-0"))))
                .hasValue(125_000);
        assertThat(NODE.share("written", List.of(ask("cuda", Kind.App, 10, "GPU-1"))))
                .hasValue(250_000);
        assertThat(NODE.share("written", List.of(ask("cuda", Kind.App, 50, "GPU-1"))))
                .hasValue(500_000);
        assertThat(NODE.share("granted", List.of(ask("cuda", Kind.App, 50, "GPU-0"))))
                .as("by the device plugin")
                .hasValue(300_000);
        assertThat(NODE.share("anywhere", List.of(ask("cuda", Kind.App, 50)))).isEmpty();
        assertThat(NODE.share("gone", List.of(ask("cuda", Kind.App, 50, "GPU-7")))).isEmpty();
    }

    @Test
    void whatIsWrittenCountsWhereNothingIsGranted() {
        assertThat(NODE.held("written", List.of(ask("cuda", Kind.App, 50, "GPU-0"))))
                .containsExactly(hold("GPU-0", 50, 2_048));
    }

    @Test
    void aPodOfWhichNobodySaysWhereItIsMayBeOnEveryUsableGpu() {
        assertThat(NODE.held("unknown", List.of(ask("cuda", Kind.App, 50))))
                .containsExactlyInAnyOrder(hold("GPU-0", 50, 2_048), hold("GPU-1", 50, 2_048));
        assertThat(
                        NODE.held(
                                "half-known",
                                List.of(
                                        ask("cuda", Kind.App, 20, "GPU-0"),
                                        ask("other", Kind.App, 30))))
                .containsExactlyInAnyOrder(hold("GPU-0", 50, 4_096), hold("GPU-1", 50, 4_096));
    }

    /** Whoever may bind pods could keep every GPU of a cluster free by small ones. */
    @Test
    void aPodThatTheDevicePluginRefusedForGoodHoldsNothingButWhatIsWrittenOrGranted() {
        var node =
                new SharedNode(
                        "n1",
                        NODE.gpus(),
                        NODE.unhealthy(),
                        NODE.granted(),
                        Map.of(),
                        "",
                        false,
                        Set.of("refused", "granted"));

        assertThat(node.held("refused", List.of(ask("cuda", Kind.App, 1)))).isEmpty();
        assertThat(node.held("waits", List.of(ask("cuda", Kind.App, 1)))).hasSize(2);
        assertThat(node.held("granted", List.of(ask("cuda", Kind.App, 1)))).hasSize(1);
        assertThat(node.held("refused", List.of(ask("cuda", Kind.App, 1, "GPU-0")))).hasSize(1);
    }

    @Test
    void aPercentageIsOfTheGpuThatItIsOn() {
        var half = new ContainerAsk("cuda", Kind.App, new GpuAsk(1, 50, 0, 50, false), Set.of());

        assertThat(NODE.held("unknown", List.of(half)))
                .containsExactlyInAnyOrder(hold("GPU-0", 50, 8_192), hold("GPU-1", 50, 4_096));
    }

    @Test
    void onAGpuThatIsNotUsableNothingMatters() {
        assertThat(NODE.held("sick", List.of(ask("cuda", Kind.App, 50, "GPU-sick")))).isEmpty();
    }

    @Test
    void anInitContainerHoldsWhatTheOthersWill() {
        assertThat(
                        NODE.held(
                                "steps",
                                List.of(
                                        ask("fetch", Kind.Init, 70, "GPU-0"),
                                        ask("cuda", Kind.App, 50, "GPU-0"))))
                .containsExactly(hold("GPU-0", 70, 2_048));
    }

    @ParameterizedTest
    @ValueSource(strings = {"other;cuda=GPU-0", "not a placement", "uid;else=GPU-0"})
    void whatIsWrittenForAnotherPodOrContainerPlacesNobody(String text) {
        assertThat(asks(text)).extracting(ContainerAsk::on).containsExactly(Set.of());
    }

    @Test
    void whatIsWrittenForThePodPlacesIt() {
        assertThat(asks("uid;cuda=GPU-0"))
                .containsExactly(
                        new ContainerAsk(
                                "cuda", Kind.App, new GpuAsk(1, 0, 2_048, false), Set.of("GPU-0")));
    }

    private static List<ContainerAsk> asks(String annotation) {
        var two = Quantity.parse("2");
        return PlacementAnnotation.placed(
                new ProviderAsk(Map.of())
                        .of(
                                new PodRequest(
                                        List.of(
                                                new ContainerRequest(
                                                        "cuda",
                                                        Kind.App,
                                                        Map.of(AliyunGrammar.MEMORY, two),
                                                        Map.of()),
                                                new ContainerRequest(
                                                        "log", Kind.App, Map.of(), Map.of())))),
                "uid",
                Map.of(PlacementAnnotation.KEY, annotation));
    }
}

package io.gpusharing.scheduler.binding;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Dialect;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of the GPUs that were kept for a pod, by what its binding is answered. */
class PodBinderTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");
    private static final GpuPod POD = pod("first");

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private PodBinder binder;
    private int code = 201;
    private String message = "";
    private String sent = "";

    @BeforeEach
    void start() {
        binder =
                new PodBinder(
                        client,
                        new GpuPodReader(
                                new ProviderAsk(Map.of()), Strategy.BestFit, PodSharing.NONE),
                        new UnreadableObjects(_ -> {}),
                        gpus,
                        Clock.fixed(NOON, ZoneOffset.UTC));
        gpus.describe(
                new SharedNode("a", List.of(new Gpu("GPU-0", 100, 16_384)), List.of(), Map.of()));
        assertThat(fits(POD)).isTrue();
    }

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        sent = request.body();
        return Answer.status(code, message);
    }

    private static GpuPod pod(String uid) {
        return new GpuPod(
                uid,
                "team-a",
                uid,
                List.of(
                        new ContainerAsk(
                                "cuda", Kind.App, new GpuAsk(1, 60, 1_024, false), Set.of())));
    }

    private boolean fits(GpuPod pod) {
        return gpus.filter(pod, List.of("a"), NOON) instanceof Chosen;
    }

    private boolean bound() {
        return binder.bind("team-a", POD.uid(), POD.uid(), "a").isEmpty();
    }

    @Test
    void theBindingCarriesThePlacement() {
        assertThat(bound()).isTrue();

        assertThat(sent).contains("\"gpusharing.io/placement\":\"first;cuda=GPU-0\"");
        assertThat(fits(pod("second"))).isFalse();
    }

    /** Finding: filter took pods that were refused here for ever, and others went for them. */
    @Test
    void thePlacementThatIsAsLongAsMayBeIsWrittenBesideWhatOthersRead() {
        String gpu = "GPU-0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
        String uid = gpu.substring(4);
        List<String> names = IntStream.range(0, 77).mapToObj("%063d"::formatted).toList();
        List<ContainerAsk> asks =
                names.stream()
                        .map(it ->
                                new ContainerAsk(
                                        it, Kind.App, new GpuAsk(1, 1, 1, false), Set.of()))
                        .toList();
        var pod =
                new GpuPod(
                        uid,
                        "team-a",
                        "long",
                        asks,
                        names,
                        Dialect.Vcuda,
                        0,
                        null,
                        Strategy.BestFit,
                        null);
        gpus.describe(
                new SharedNode(
                        "a",
                        List.of(new Gpu(gpu, 100, 16_384)),
                        List.of(),
                        Map.of(),
                        Map.of(gpu, 7),
                        "",
                        false,
                        Set.of()));
        assertThat(PlacementAnnotation.bytes(asks))
                .isBetween(
                        PlacementAnnotation.MOST_BYTES - 105L,
                        (long) PlacementAnnotation.MOST_BYTES);
        assertThat(fits(pod)).isTrue();

        assertThat(binder.bind("team-a", "long", uid, "a")).isEmpty();

        assertThat(sent).contains("predicate-gpu-idx-76", gpu);
    }

    @Test
    void whereItIsNotKnownWhetherThePodIsBoundItsGpusAreKept() {
        code = 500;
        message = "etcdserver: request timed out";

        assertThat(bound()).isFalse();

        assertThat(fits(pod("second"))).isFalse();
    }

    /** Its owner could keep GPUs for ever and pay nothing. */
    @Test
    void aPodThatIsTooLargeToBeBoundKeepsNothing() {
        code = 500;
        message = "etcdserver: request is too large";

        assertThat(bound()).isFalse();

        assertThat(fits(pod("second"))).isTrue();
    }
}

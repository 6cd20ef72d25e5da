package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Decision.Never;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.Decision.Wait;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** 150 of metagpu's 100: one GPU that nobody else has, and half of another; both or neither. */
class MoreThanAGpuTest {

    private static final long MEMORY = 16_384;

    private static final GpuLayout TWO =
            new GpuLayout(List.of(new Gpu("GPU-0", 100, MEMORY), new Gpu("GPU-1", 100, MEMORY)));

    private static final ProviderAsk PROVIDER = new ProviderAsk(Map.of("cnvrg.io/metagpu", 100));

    private static PodRequest request(Kind kind, int units) {
        Map<String, Quantity> amount =
                Map.of("cnvrg.io/metagpu", Quantity.parse(Integer.toString(units)));
        return new PodRequest(List.of(new ContainerRequest("cuda", kind, amount, Map.of())));
    }

    private static List<ContainerAsk> asking(int units) {
        return PROVIDER.of(request(Kind.App, units));
    }

    private static GpuHold whole(String gpu) {
        return new GpuHold(gpu, 100, MEMORY, true);
    }

    private static GpuHold part(String gpu, long cores) {
        return new GpuHold(gpu, cores, MEMORY * cores / 100, false);
    }

    @Test
    void oneContainerHasAWholeGpuAndAPartOfAnother() {
        GpuLayout free = TWO.without(List.of(part("GPU-0", 40)));

        assertThat(PodPlacement.place(asking(150), free, TWO))
                .isEqualTo(
                        new Placed(
                                List.of(
                                        new ContainerPlacement(
                                                "cuda",
                                                Kind.App,
                                                List.of(whole("GPU-1"), part("GPU-0", 50))))));
    }

    @Test
    void anInitContainerHasTwoGpusToo() {
        List<ContainerAsk> asks = PROVIDER.of(request(Kind.Init, 150));

        assertThat(PodPlacement.placed(asks, TWO).orElseThrow())
                .singleElement()
                .satisfies(it ->
                        assertThat(it.gpus())
                                .extracting(GpuHold::gpu)
                                .containsExactlyInAnyOrder("GPU-0", "GPU-1"));
    }

    @Test
    void whereOnlyOneOfTheTwoIsFreeItGetsNeither() {
        GpuLayout free = TWO.without(List.of(part("GPU-0", 60)));

        assertThat(PodPlacement.place(asking(150), free, TWO)).isInstanceOf(Wait.class);
        assertThat(Reason.of(asking(150), TWO, free, () -> false)).isEqualTo(Reason.NO_ROOM);
        assertThat(Reason.NO_ROOM.text(asking(150)))
                .isEqualTo("the node does not have 1 whole GPU and, of another, 50 of 100 free");
    }

    @Test
    void onANodeWithOneGpuItNeverStarts() {
        var one = new GpuLayout(List.of(new Gpu("GPU-0", 100, MEMORY)));

        assertThat(PodPlacement.place(asking(150), one, one)).isInstanceOf(Never.class);
        assertThat(Reason.of(asking(150), one, one, () -> false)).isEqualTo(Reason.TOO_LARGE);
        assertThat(Reason.TOO_LARGE.text(asking(250)))
                .isEqualTo("the node does not have 2 whole GPUs and, of another, 50 of 100");
    }

    @Test
    void aShortageSaysWhatIsIdleAndWhatIsFree() {
        GpuLayout free = TWO.without(List.of(part("GPU-0", 60)));
        Shortage shortage =
                Shortage.of(
                        Set.of(Reason.NO_ROOM),
                        List.of(Shortage.Node.of("n1", asking(150), free, TWO)));

        assertThat(shortage.text(asking(150)))
                .isEqualTo(
                        "the node does not have 1 whole GPU and, of another, 50 of 100 free: of 2 GPUs on 1 node that fit otherwise, most are idle on n1, 1; most is free of one on n1, 100 of 100 and 16384 MiB");
    }

    @Test
    void whatIsWrittenOnThePodNamesTheWholeOnesFirst() {
        var node = new SharedNode("n1", TWO.gpus(), List.of(), Map.of());
        List<ContainerAsk> written =
                PlacementAnnotation.placed(
                        PROVIDER.of(request(Kind.App, 150)),
                        "uid",
                        Map.of(PlacementAnnotation.KEY, "uid;cuda=GPU-1,GPU-0"));

        assertThat(SharedNode.isPlaced(written)).isTrue();
        assertThat(node.held("uid", written))
                .containsExactlyInAnyOrder(whole("GPU-1"), part("GPU-0", 50));
        assertThat(PodPlacement.placed(written, TWO).orElseThrow().getFirst().gpus())
                .containsExactly(whole("GPU-1"), part("GPU-0", 50));
    }

    @Test
    void ofOneGpuTooFewNothingIsKnown() {
        List<ContainerAsk> written =
                PlacementAnnotation.placed(
                        PROVIDER.of(request(Kind.App, 250)),
                        "uid",
                        Map.of(PlacementAnnotation.KEY, "uid;cuda=GPU-1,GPU-0"));
        List<ContainerAsk> onOne =
                PlacementAnnotation.placed(
                        PROVIDER.of(request(Kind.App, 150)),
                        "uid",
                        Map.of(PlacementAnnotation.KEY, "uid;cuda=GPU-1"));

        assertThat(SharedNode.isPlaced(written)).isFalse();
        assertThat(SharedNode.isPlaced(onOne)).isFalse();
    }

    @Test
    void itTakesTurnsAndIsInNoGroup() {
        assertThat(Sharing.isEligible(asking(50), false, _ -> false)).isTrue();
        assertThat(Sharing.isEligible(asking(150), false, _ -> false)).isFalse();
        assertThat(
                        GpuGroup.of(
                                "team-a",
                                Map.of("request.gpusharing.io/same-gpu", "steps"),
                                asking(150)))
                .isEmpty();
    }

    @ParameterizedTest
    @RandomSeeds(20)
    void itFitsWhereThereAreIdleGpusAndAnotherWithRoom(long seed) {
        var random = new Random(seed);
        for (int i = 0; i < 200; i++) {
            GpuLayout free =
                    new GpuLayout(
                            IntStream.range(0, 1 + random.nextInt(5))
                                    .mapToObj(gpu -> gpu(random, "GPU-" + gpu))
                                    .toList());
            int wholes = 1 + random.nextInt(2);
            int part = 1 + random.nextInt(99);
            long idle = free.gpus().stream().filter(Gpu::untouched).count();
            long room = free.gpus().stream().filter(gpu -> gpu.cores() >= part).count();

            assertThat(PodPlacement.placed(asking(100 * wholes + part), free).isPresent())
                    .as("%d and %d of %s", wholes, part, free)
                    .isEqualTo(idle >= wholes && room > wholes);
        }
    }

    private static Gpu gpu(Random random, String id) {
        var gpu = new Gpu(id, 100, MEMORY);
        return random.nextBoolean() ? gpu : gpu.without(part(id, 1 + random.nextInt(100)));
    }
}

package io.gpusharing.request.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFact;
import io.gpusharing.testing.RandomSeeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random legal layouts of whole GPUs, by the placements that hardware allows: a profile begins at
 * certain memory slices only and takes a fixed number of them. Source: the placements that
 * nvidia-smi mig -lgipp lists, in NVIDIA's MIG user guide.
 */
class MigLayoutTest {

    /** Where a profile may begin, and how many memory slices it takes. */
    private record Placement(String profile, List<Integer> starts, int size) {}

    private record Gpu(String product, int slices, List<Placement> placements) {}

    private static final List<Integer> ANYWHERE = List.of(0, 1, 2, 3, 4, 5, 6);

    private static final List<Gpu> GPUS =
            List.of(
                    sevenths("NVIDIA-A100-SXM4-40GB", "5gb", "10gb", "20gb", "40gb"),
                    sevenths("NVIDIA-A100-SXM4-80GB", "10gb", "20gb", "40gb", "80gb"),
                    sevenths("NVIDIA-H100-80GB-HBM3", "10gb", "20gb", "40gb", "80gb"),
                    sevenths("NVIDIA-H100-NVL", "12gb", "24gb", "47gb", "94gb"),
                    sevenths("NVIDIA-H200", "18gb", "35gb", "71gb", "141gb"),
                    sevenths("NVIDIA-B200", "23gb", "45gb", "90gb", "180gb"),
                    sevenths("NVIDIA-GB200", "24gb", "47gb", "95gb", "189gb"),
                    sevenths("NVIDIA-B300", "34gb", "67gb", "135gb", "269gb"),
                    quarters("NVIDIA-A30", "6gb", "12gb", "24gb"),
                    quarters(
                            "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
                            "24gb",
                            "48gb",
                            "96gb"));

    @ParameterizedTest
    @RandomSeeds(1000)
    void noLegalLayoutIsMoreThanOneGpuInEitherPart(long seed) {
        Random random = new Random(seed);
        Gpu gpu = GPUS.get(random.nextInt(GPUS.size()));
        var free = new ArrayList<>(Collections.nCopies(gpu.slices, true));
        GpuShare sum = GpuShare.NONE;

        for (int attempt = 0; attempt < 20; attempt++) {
            Placement placement = gpu.placements.get(random.nextInt(gpu.placements.size()));
            int start = placement.starts.get(random.nextInt(placement.starts.size()));
            List<Boolean> taken = free.subList(start, start + placement.size);
            if (!taken.contains(false)) {
                Collections.fill(taken, false);
                sum = sum.plus(share(placement.profile, gpu));
            }
        }

        assertThat(sum.compute()).isLessThanOrEqualTo(GpuShare.WHOLE);
        assertThat(sum.memory()).isLessThanOrEqualTo(GpuShare.WHOLE);
    }

    @Test
    void theFullProfileIsOneGpu() {
        for (Gpu gpu : GPUS) {
            String full = gpu.placements.getLast().profile;

            assertThat(share(full, gpu)).as(gpu.product).isEqualTo(GpuShare.whole(1));
        }
    }

    @Test
    void everyProfileIsMoreThanZeroAndAtMostOneGpu() {
        for (Gpu gpu : GPUS) {
            for (Placement placement : gpu.placements) {
                GpuShare share = share(placement.profile, gpu);

                assertThat(share.compute()).isBetween(1L, GpuShare.WHOLE);
                assertThat(share.memory()).isBetween(1L, GpuShare.WHOLE);
            }
        }
    }

    /** The layout for which the larger of both parts adds up to more than one GPU. */
    @Test
    void threeSeventhsAndFourSeventhsStayWithinBothPartsOfAnA100() {
        Gpu gpu = GPUS.getFirst();
        GpuShare sevenths = share("1g.5gb", gpu);
        GpuShare sum = share("3g.20gb", gpu);
        for (int i = 0; i < 4; i++) {
            sum = sum.plus(sevenths);
        }

        assertThat(sum.compute()).isBetween(GpuShare.WHOLE - 5, GpuShare.WHOLE);
        assertThat(sum.memory()).isEqualTo(GpuShare.WHOLE);
    }

    @Test
    void anUnknownProfileIsAWholeGpuAndSaysSo() {
        for (String profile : List.of("", "1g", "gb", "1g.5gbx", "9g.99gb", "INVALID", "1G.5GB")) {
            assertThat(MigProfile.of(profile, "NVIDIA-A100-SXM4-40GB", 40_960))
                    .as(profile)
                    .isEqualTo(new MigProfile(MigSlice.WHOLE_GPU, Set.of(NodeFact.MIG_PROFILE)));
        }
    }

    private static GpuShare share(String profile, Gpu gpu) {
        MigProfile worth = MigProfile.of(profile, gpu.product, 0);
        assertThat(worth.missing()).as("%s on %s", profile, gpu.product).isEmpty();
        return worth.slice().share(1, 1);
    }

    private static Gpu sevenths(
            String product, String eighth, String quarter, String half, String full) {
        return new Gpu(
                product,
                8,
                List.of(
                        new Placement("1g." + eighth, ANYWHERE, 1),
                        new Placement("1g." + quarter, List.of(0, 2, 4, 6), 2),
                        new Placement("2g." + quarter, List.of(0, 2, 4), 2),
                        new Placement("3g." + half, List.of(0, 4), 4),
                        new Placement("4g." + half, List.of(0), 4),
                        new Placement("7g." + full, List.of(0), 8)));
    }

    private static Gpu quarters(String product, String quarter, String half, String full) {
        return new Gpu(
                product,
                4,
                List.of(
                        new Placement("1g." + quarter, List.of(0, 1, 2, 3), 1),
                        new Placement("2g." + half, List.of(0, 2), 2),
                        new Placement("4g." + full, List.of(0), 4)));
    }
}

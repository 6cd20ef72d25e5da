package io.gpusharing.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.request.grammar.CustomResource;
import io.gpusharing.request.grammar.HamiGrammar;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.NvidiaGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.RandomSeeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** What holds for every share, whatever the pods and nodes. */
class ShareInvariantsTest {

    private static final List<String> EVERYTHING =
            List.of(
                    VcudaGrammar.CORE,
                    VcudaGrammar.MEMORY,
                    AliyunGrammar.MEMORY,
                    AliyunGrammar.COUNT,
                    MetagpuGrammar.SHARES,
                    NvidiaGrammar.GPU,
                    NvidiaGrammar.SHARED_GPU,
                    "nvidia.com/mig-1g.5gb",
                    "nvidia.com/mig-1g.10gb",
                    "nvidia.com/mig-3g.20gb.shared",
                    "nvidia.com/mig-8g.1gb",
                    HamiGrammar.MEMORY,
                    HamiGrammar.MEMORY_PERCENTAGE,
                    HamiGrammar.CORES,
                    "example.com/gpu",
                    "cpu");

    private static final List<RequestGrammars> SITES =
            List.of(
                    RequestGrammars.of(
                            List.of("vcuda", "aliyun", "metagpu", "nvidia"),
                            List.of(CustomResource.of("example.com/gpu", 500_000))),
                    RequestGrammars.of(List.of("hami", "vcuda"), List.of()));

    @ParameterizedTest
    @RandomSeeds(500)
    void aBoundShareIsNeverZeroAndNeverBelowItsEstimate(long seed) {
        Random random = new Random(seed);
        PodRequest pod = pod(random, random.nextInt(1, 4));
        NodeFacts node = node(random);

        for (RequestGrammars site : SITES) {
            switch (site.judge(pod)) {
                case Verdict.Legal(GpuShare share) -> {
                    assertThat(bound(site, pod, node)).isEqualTo(BoundShare.exact(share));
                    assertThat(larger(share)).isPositive();
                }
                case Verdict.LegalUntilBound(GpuShare least, String reason) -> {
                    GpuShare share = bound(site, pod, node).share();
                    assertThat(share.compute()).isGreaterThanOrEqualTo(least.compute());
                    assertThat(share.memory()).isGreaterThanOrEqualTo(least.memory());
                    assertThat(larger(share)).isPositive();
                    assertThat(reason).isNotBlank();
                    assertThat(bound(site, pod, NodeFacts.UNKNOWN).isExact()).isFalse();
                }
                case Verdict.Illegal(List<Violation> violations) ->
                        assertThat(violations).isNotEmpty();
                case Verdict.NotOurs() -> assertThat(site.grammarOf(pod)).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void theOrderOfAppContainersChangesNeitherVerdictNorShare(long seed) {
        Random random = new Random(seed);
        PodRequest pod = pod(random, 3);
        NodeFacts node = node(random);
        var shuffled = new ArrayList<>(pod.containers());
        Collections.shuffle(shuffled, random);

        for (RequestGrammars site : SITES) {
            PodRequest other = new PodRequest(shuffled);

            assertThat(sorted(site.judge(other))).isEqualTo(sorted(site.judge(pod)));
            if (site.judge(pod) instanceof Verdict.Legal
                    || site.judge(pod) instanceof Verdict.LegalUntilBound) {
                assertThat(bound(site, other, node)).isEqualTo(bound(site, pod, node));
            }
        }
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void severalContainersHoldTheirSumAndAnInitStepNeverCountsTwice(long seed) {
        Random random = new Random(seed);
        ContainerRequest one = legal(random, "one", Kind.App);
        ContainerRequest two = legal(random, "two", Kind.App);
        ContainerRequest step = legal(random, "step", Kind.Init);
        NodeFacts node = node(random);
        RequestGrammar grammar = new NvidiaGrammar();

        GpuShare first = grammar.shareOn(new PodRequest(List.of(one)), node).share();
        GpuShare second = grammar.shareOn(new PodRequest(List.of(two)), node).share();
        GpuShare before = grammar.shareOn(new PodRequest(List.of(step)), node).share();

        assertThat(grammar.shareOn(new PodRequest(List.of(one, two, step)), node).share())
                .isEqualTo(first.plus(second).max(before));
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void theEqualPartsOfOneGpuAreOneGpu(long seed) {
        long parts = new Random(seed).nextLong(2, 65);
        NodeFacts node =
                new NodeFacts(
                        Map.of(
                                AliyunGrammar.MEMORY, Quantity.of(parts),
                                AliyunGrammar.COUNT, Quantity.of(1)),
                        Map.of(
                                "nvidia.com/gpu.product",
                                "NVIDIA-A10-SHARED",
                                "nvidia.com/gpu.replicas",
                                Long.toString(parts)));

        for (RequestGrammar grammar : List.of(new NvidiaGrammar(), new AliyunGrammar())) {
            String resource =
                    grammar.reads(NvidiaGrammar.GPU) ? NvidiaGrammar.GPU : AliyunGrammar.MEMORY;
            long sum = parts * grammar.shareOn(pod(resource, 1), node).share().compute();

            assertThat(sum).isBetween(GpuShare.WHOLE - parts, GpuShare.WHOLE);
            assertThat(grammar.shareOn(pod(resource, parts), node))
                    .isEqualTo(BoundShare.exact(GpuShare.whole(1)));
        }
    }

    @Test
    void fourQuartersOfHamiAreExactlyOneGpu() {
        long quarter =
                new HamiGrammar()
                        .shareOn(pod(HamiGrammar.MEMORY_PERCENTAGE, 25), NodeFacts.UNKNOWN)
                        .share()
                        .memory();

        assertThat(4 * quarter).isEqualTo(GpuShare.WHOLE);
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void asMuchHamiMemoryAsANodeHasIsAsManyGpusAsItHas(long seed) {
        Random random = new Random(seed);
        int gpus = random.nextInt(1, 9);
        var register = new StringBuilder("[");
        long total = 0;
        for (int i = 0; i < gpus; i++) {
            long memory = random.nextLong(8_000, 200_000);
            total += memory;
            register.append(i > 0 ? "," : "").append("{\"devmem\":").append(memory).append("}");
        }
        NodeFacts node =
                new NodeFacts(
                        Map.of(),
                        Map.of(),
                        Map.of("hami.io/node-nvidia-register", register.append("]").toString()));
        long left = total;
        long held = 0;
        int pods = 0;
        while (left > 0) {
            long memory = Math.min(left, random.nextLong(1, 8_000));
            held += shareOfMemory(memory, node);
            left -= memory;
            pods++;
        }

        // The mean of unlike GPUs is rounded down by less than one MiB of each.
        assertThat(held)
                .isBetween(
                        gpus * GpuShare.WHOLE - pods,
                        gpus * GpuShare.WHOLE + gpus * GpuShare.WHOLE / 8_000);
    }

    private static long shareOfMemory(long mebibytes, NodeFacts node) {
        return new HamiGrammar().shareOn(pod(HamiGrammar.MEMORY, mebibytes), node).share().memory();
    }

    private static BoundShare bound(RequestGrammars site, PodRequest pod, NodeFacts node) {
        return site.grammarOf(pod).orElseThrow().shareOn(pod, node);
    }

    private static long larger(GpuShare share) {
        return Math.max(share.compute(), share.memory());
    }

    private static Object sorted(Verdict verdict) {
        return verdict instanceof Verdict.Illegal illegal
                ? illegal.violations().stream().map(Violation::message).sorted().toList()
                : verdict;
    }

    private static PodRequest pod(String resource, long units) {
        return new PodRequest(
                List.of(
                        new ContainerRequest(
                                "cuda", Kind.App, Map.of(resource, Quantity.of(units)), Map.of())));
    }

    private static PodRequest pod(Random random, int containers) {
        var all = new ArrayList<ContainerRequest>();
        for (int i = 0; i < containers; i++) {
            Map<String, Quantity> limits = new HashMap<>();
            Map<String, Quantity> requests = new HashMap<>();
            for (int j = random.nextInt(3); j >= 0; j--) {
                String resource = EVERYTHING.get(random.nextInt(EVERYTHING.size()));
                long units =
                        switch (random.nextInt(6)) {
                            case 0 -> random.nextLong(-2, 1);
                            case 1 -> 100L * random.nextLong(1, 5);
                            case 2 -> random.nextLong(1, 200_000_000);
                            default -> random.nextLong(1, 100);
                        };
                if (random.nextInt(10) > 0) {
                    limits.put(resource, Quantity.of(units));
                }
                if (random.nextInt(3) == 0) {
                    requests.put(resource, Quantity.of(units));
                }
            }
            all.add(new ContainerRequest("c" + i, Kind.App, limits, requests));
        }
        return new PodRequest(all);
    }

    private static ContainerRequest legal(Random random, String name, Kind kind) {
        List<String> resources =
                List.of(NvidiaGrammar.GPU, "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.20gb");
        return new ContainerRequest(
                name,
                kind,
                Map.of(
                        resources.get(random.nextInt(resources.size())),
                        Quantity.of(random.nextLong(1, 8))),
                Map.of());
    }

    private static NodeFacts node(Random random) {
        Map<String, Quantity> capacity = new HashMap<>();
        Map<String, String> labels = new HashMap<>();
        if (random.nextBoolean()) {
            capacity.put(VcudaGrammar.CORE, Quantity.of(100L * random.nextInt(9)));
            capacity.put(VcudaGrammar.MEMORY, Quantity.of(random.nextInt(2_000)));
            capacity.put(AliyunGrammar.COUNT, Quantity.of(random.nextInt(9)));
            capacity.put(AliyunGrammar.MEMORY, Quantity.of(random.nextInt(2_000)));
        }
        if (random.nextBoolean()) {
            List<String> products =
                    List.of(
                            "NVIDIA-A10",
                            "NVIDIA-A10-SHARED",
                            "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
                            "NVIDIA-A100-SXM4-40GB-MIG-1g.10gb-SHARED",
                            "NVIDIA-A100-SXM4-80GB-MIG-INVALID");
            labels.put("nvidia.com/gpu.product", products.get(random.nextInt(products.size())));
            labels.put("nvidia.com/gpu.replicas", Integer.toString(random.nextInt(12)));
            labels.put("nvidia.com/gpu.memory", Integer.toString(random.nextInt(200_000)));
        }
        return new NodeFacts(capacity, labels, Map.of());
    }
}

package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.ShareRule;
import io.gpusharing.kubernetes.PodFacts.Lifecycle;
import io.gpusharing.kubernetes.PodFacts.Placement;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.RandomSeeds;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;

class PodFactsTest {

    private static final RequestGrammars GRAMMARS =
            new RequestGrammars(List.of(new VcudaGrammar()));

    private static final NodeFacts TWO_GPUS =
            new NodeFacts(
                    Map.of(
                            VcudaGrammar.CORE, Quantity.of(200),
                            VcudaGrammar.MEMORY, Quantity.of(120)),
                    Map.of());

    /** Of a node with two GPUs of 60 blocks each no more than two GPUs are ever held at once. */
    @ParameterizedTest
    @RandomSeeds(300)
    void whatFitsOnItsGpusIsNeverMoreThanANodeHas(long seed) {
        Random random = new Random(seed);
        GpuShare held = GpuShare.NONE;
        for (int gpu = 0; gpu < 2; gpu++) {
            if (random.nextInt(4) == 0) {
                held = held.plus(held(100, 0));
                continue;
            }
            int cores = 100;
            int blocks = 60;
            while (cores > 0 && blocks > 0 && random.nextInt(8) > 0) {
                int core = 1 + random.nextInt(Math.min(cores, 99));
                int memory = 1 + random.nextInt(blocks);
                held = held.plus(held(core, memory));
                cores -= core;
                blocks -= memory;
            }
        }

        assertThat(held.compute()).isBetween(0L, 2 * GpuShare.WHOLE);
        assertThat(held.memory()).isBetween(0L, 2 * GpuShare.WHOLE);
    }

    private static final List<String> ABSURD =
            List.of(
                    "0",
                    "-1",
                    "-9e999",
                    "1e-400",
                    "1n",
                    "0.5",
                    "100",
                    "1e18",
                    "5E",
                    "8Ei",
                    "9223372036854775807",
                    "9223372036854775808",
                    "9e999");

    private static final List<String> RESOURCES =
            List.of(
                    "tencent.com/vcuda-core",
                    "tencent.com/vcuda-memory",
                    "aliyun.com/gpu-mem",
                    "cnvrg.io/metagpu",
                    "nvidia.com/gpu",
                    "nvidia.com/gpu.shared",
                    "nvidia.com/mig-1g.5gb",
                    "nvidia.com/gpumem",
                    "nvidia.com/gpucores",
                    "nvidia.com/gpumem-percentage");

    private static final RequestGrammars ALL =
            RequestGrammars.of(List.of("vcuda", "aliyun", "metagpu", "nvidia", "hami"), List.of());

    @ParameterizedTest
    @RandomSeeds(1_000)
    void whateverAPodAsksForAndItsNodeOffersItHoldsSomethingThatCanBeCharged(long seed) {
        Random random = new Random(seed);
        PodFacts pod = asking(amounts(random));

        var node = new NodeFacts(amounts(random), Map.of());
        Optional<BoundShare> held = pod.held(container -> node, ALL);

        assertThat(held.isPresent()).isEqualTo(pod.holdsGpus(ALL));
        assertThat(held.map(BoundShare::share).orElse(GpuShare.NONE))
                .satisfies(share -> {
                    assertThat(share.compute()).isBetween(0L, ShareRule.MAX_RATE);
                    assertThat(share.memory()).isBetween(0L, ShareRule.MAX_RATE);
                });
    }

    private static PodFacts asking(Map<String, Quantity> limits) {
        return new PodFacts(
                new UUID(0, 1),
                "team-a",
                "train",
                null,
                new PodRequest(List.of(new ContainerRequest("cuda", Kind.App, limits, limits))),
                Claimed.NONE,
                Map.of(),
                new Placement("gpu-node-1", null, 0, false, null),
                new Lifecycle(
                        Instant.EPOCH,
                        Instant.EPOCH,
                        true,
                        null,
                        false,
                        null,
                        false,
                        null,
                        null,
                        null,
                        null));
    }

    private static Map<String, Quantity> amounts(Random random) {
        return random.ints(3, 0, RESOURCES.size())
                .distinct()
                .boxed()
                .collect(
                        Collectors.toMap(
                                RESOURCES::get,
                                it -> Quantity.parse(ABSURD.get(random.nextInt(ABSURD.size())))));
    }

    private static GpuShare held(long core, long memory) {
        return asking(
                        Map.of(
                                VcudaGrammar.CORE, Quantity.of(core),
                                VcudaGrammar.MEMORY, Quantity.of(memory)))
                .held(container -> TWO_GPUS, GRAMMARS)
                .orElseThrow()
                .share();
    }
}

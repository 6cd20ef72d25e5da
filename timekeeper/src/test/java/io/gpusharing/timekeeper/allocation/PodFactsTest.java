package io.gpusharing.timekeeper.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.GpuShare;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.testing.Pods;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;

class PodFactsTest {

    private static final RequestGrammars GRAMMARS =
            new RequestGrammars(List.of(new VcudaGrammar()));

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

    private static GpuShare held(long core, long memory) {
        return Pods.waiting("team-a", core, memory)
                .facts()
                .held(Pods.NODE_FACTS, GRAMMARS)
                .orElseThrow()
                .share();
    }
}

package io.gpusharing.scheduler.preemption;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The search for whom to preempt, all nodes being candidates, without what the API server takes for
 * the nodes that are read anew: a pod wants a whole GPU, and on each GPU are two that could go.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(1)
public class PreemptionBenchmark {

    private static final int GPUS = 8;

    /** Nodes of eight GPUs each. */
    @Param("1000")
    public int nodes;

    private final ToyCluster cluster = new ToyCluster();

    /** Fills the nodes. */
    @Setup
    public void fill() {
        for (int number = 0; number < nodes; number++) {
            String node = "node-" + number;
            cluster.node(node, GPUS);
            for (int gpu = 0; gpu < GPUS; gpu++) {
                String name = node + "-" + gpu;
                cluster.with(
                        ToyPod.part(name + "-one", node, gpu, 40),
                        ToyPod.part(name + "-other", node, gpu, 40));
            }
        }
        if (search().isEmpty()) {
            throw new IllegalStateException("Nobody is to go: this is another search");
        }
    }

    /** Who goes for one pod. */
    @Benchmark
    public Optional<Preemption> search() {
        // It notes which nodes were read.
        cluster.read.clear();
        return cluster.preempt(ToyCluster.waiter(ToyCluster.wholes(1)));
    }
}

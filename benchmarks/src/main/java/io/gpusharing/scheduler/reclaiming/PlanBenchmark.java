package io.gpusharing.scheduler.reclaiming;

import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Planner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
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
 * What a round of reclaim computes once it knows the cluster: a decision for each waiting pod. Pods
 * of budgets that are over run on all nodes, and on each of them somebody who may not go, while the
 * waiting pods want whole nodes: every node is looked at for each kind of them, and nobody goes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(1)
public class PlanBenchmark {

    private static final int GPUS = 8;
    private static final int BUDGETS = 200;
    private static final int OVER = 20;

    /** Nodes of eight GPUs each. */
    @Param("1000")
    public int nodes;

    /** Pods that run, with a part of a GPU each; at most as many as there are GPUs twice. */
    @Param("10000")
    public int pods;

    /** Pods that wait. */
    @Param("100")
    public int waiters;

    /**
     * Of how many kinds those that wait are, each from a namespace of its own and with a request of
     * its own: of each kind the round answers one, and the others like it.
     */
    @Param({"5", "50"})
    public int kinds;

    private ClusterSnapshot snapshot = new Cluster().snapshot();

    /** Fills the nodes. */
    @Setup
    public void fill() {
        var random = new SplittableRandom(1);
        var cluster = new Cluster();
        for (int node = 0; node < nodes; node++) {
            cluster.shares(Cluster.shared("node-" + node, GPUS, 0, Map.of()));
        }
        for (int team = 0; team < BUDGETS; team++) {
            if (isOver(team)) {
                cluster.over(name(team), 10L + team);
            } else {
                cluster.within(name(team));
            }
        }
        for (int pod = 0; pod < pods; pod++) {
            // The first ones are on one node each, and in budget.
            int team = pod < nodes ? pod % (BUDGETS - OVER) : pod % BUDGETS;
            cluster.runs(
                    Cluster.pod(name(team), "pod-" + pod)
                            .share(random.nextInt(1, 5) * 10L, 6)
                            .cpus(0)
                            .age(Duration.ofMinutes(10L + pod))
                            .on("node-" + pod % nodes, pod / nodes % GPUS));
        }
        for (int waiter = 0; waiter < waiters; waiter++) {
            cluster.waits(
                    Cluster.pod(name(waiter % kinds), "waiter-" + waiter)
                            .share(GPUS * 100L, waiter % kinds)
                            .cpus(0)
                            .waiting(Duration.ofMinutes(10)));
        }
        snapshot = cluster.snapshot();
        if (plan().stream().anyMatch(Evict.class::isInstance)) {
            throw new IllegalStateException("Somebody is to be evicted: this is another search");
        }
    }

    private static boolean isOver(int team) {
        return team >= BUDGETS - OVER;
    }

    private static String name(int team) {
        return "team-" + team;
    }

    /** One round. */
    @Benchmark
    public List<Decision> plan() {
        return new Planner(Cluster.RULES).plan(snapshot, node -> List.of());
    }
}

package io.gpusharing.placement;

import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.util.Comparator;

/**
 * What is free of one physical GPU.
 *
 * @param id what the provider calls it on its node
 * @param cores free hundredths of its processors
 * @param memory free device memory, in the provider's own blocks
 * @param untouched whether nobody holds any of it
 * @param size all of its memory, free or not
 * @param sharing how those share it who hold parts of it; says nothing while it is untouched
 * @param servesMps whether pods that would share it by MPS can; else they take turns
 */
public record Gpu(
        String id,
        long cores,
        long memory,
        boolean untouched,
        long size,
        Sharing sharing,
        boolean servesMps) {

    private static final Comparator<Gpu> FULLEST_FIRST =
            Comparator.comparingLong(Gpu::cores)
                    .thenComparingLong(Gpu::memory)
                    .thenComparing(Gpu::id);

    private static final Comparator<Gpu> EMPTIEST_FIRST =
            Comparator.comparingLong(Gpu::cores)
                    .thenComparingLong(Gpu::memory)
                    .reversed()
                    .thenComparing(Gpu::id);

    /** One that takes whoever comes first, however they share it. */
    public Gpu(String id, long cores, long memory, boolean untouched, long size) {
        this(id, cores, memory, untouched, size, Sharing.TIME_SLICES, true);
    }

    /** One that is all free. */
    public Gpu(String id, long cores, long memory) {
        this(id, cores, memory, true, memory);
    }

    /** What is left of it beside somebody who holds this. */
    public Gpu without(GpuHold hold) {
        return hold.whole()
                ? new Gpu(id, 0, 0, false, size, Sharing.TIME_SLICES, servesMps)
                : new Gpu(
                        id,
                        cores - hold.cores(),
                        memory - hold.memory(),
                        false,
                        size,
                        untouched ? hold.sharing() : sharing.with(hold.sharing()),
                        servesMps);
    }

    /** The same on a node that serves no MPS. */
    Gpu withoutMps() {
        return servesMps ? new Gpu(id, cores, memory, untouched, size, sharing, false) : this;
    }

    /** The same if it did not matter how it is shared. */
    Gpu sharedInAnyWay() {
        return new Gpu(id, cores, memory, untouched, size, Sharing.TIME_SLICES, false);
    }

    /** How those share it who would share GPUs in this way where they can. */
    Sharing way(Sharing wish) {
        return servesMps ? wish : Sharing.TIME_SLICES;
    }

    /** Whether somebody may hold a part of it who shares it in this way. */
    public boolean admits(Sharing other) {
        return untouched || sharing.equals(other);
    }

    /** Whether it may be one of the GPUs that somebody asks for. */
    public boolean fits(GpuAsk ask) {
        return ask.whole()
                ? untouched
                : cores >= Math.max(1, ask.cores()) && memory >= memoryOf(ask) && admits(ask);
    }

    /** Whether those who hold parts of it, if any is left, share it as who asks would. */
    public boolean admits(GpuAsk ask) {
        return ask.whole() || cores <= 0 || admits(way(ask.sharing()));
    }

    /** What who asks would hold of it if it fits. */
    public GpuHold hold(GpuAsk ask) {
        return new GpuHold(id, ask.cores(), memoryOf(ask), ask.whole(), way(ask.sharing()));
    }

    private long memoryOf(GpuAsk ask) {
        if (ask.whole()) {
            return size;
        }
        return ask.memory() > 0 ? ask.memory() : size * ask.memoryPercent() / 100;
    }

    /** In which order a strategy takes them: the first is the best. */
    public static Comparator<Gpu> order(Strategy strategy) {
        return strategy == Strategy.BestFit ? FULLEST_FIRST : EMPTIEST_FIRST;
    }
}

package io.gpusharing.placement;

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
}

package io.gpusharing.placement;

/**
 * One physical GPU of a node and what is free of it.
 *
 * @param id the provider's name for it: an index or a UUID
 * @param cores free hundredths of its processors
 * @param memory free device memory, in the provider's own blocks
 * @param untouched whether nobody holds any of it
 * @param size all of its memory, free or not
 * @param sharing how those share it who hold parts of it; says nothing while it is untouched
 */
public record Gpu(
        String id, long cores, long memory, boolean untouched, long size, Sharing sharing) {

    /** One that is shared by time slices. */
    public Gpu(String id, long cores, long memory, boolean untouched, long size) {
        this(id, cores, memory, untouched, size, Sharing.TIME_SLICES);
    }

    /** One that is all free. */
    public Gpu(String id, long cores, long memory) {
        this(id, cores, memory, true, memory);
    }

    /** What is left of it beside somebody who holds this much. */
    public Gpu without(GpuHold hold) {
        return hold.whole()
                ? new Gpu(id, 0, 0, false, size)
                : new Gpu(
                        id,
                        cores - hold.cores(),
                        memory - hold.memory(),
                        false,
                        size,
                        untouched ? hold.sharing() : sharing.with(hold.sharing()));
    }

    /** Whether somebody may hold a part of it who shares GPUs in this way. */
    public boolean admits(Sharing other) {
        return untouched || sharing.equals(other);
    }
}

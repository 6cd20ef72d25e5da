package io.gpusharing.placement;

/**
 * What one container asks of GPUs: {@code count} of them, of each so much.
 *
 * @param cores hundredths of each GPU's processors; none is no limit, but not on a GPU of which all
 *     are given away
 * @param memory device memory of each, in the provider's own blocks
 * @param memoryPercent the same in percent of each GPU's memory, where no amount is given
 * @param whole whether it wants each GPU to itself
 * @param sharing how it shares a GPU with others, where that is served; says nothing of whole ones
 */
public record GpuAsk(
        int count, long cores, long memory, int memoryPercent, boolean whole, Sharing sharing) {

    /** By time slices. */
    public GpuAsk(int count, long cores, long memory, int memoryPercent, boolean whole) {
        this(count, cores, memory, memoryPercent, whole, Sharing.TIME_SLICES);
    }

    public GpuAsk(int count, long cores, long memory, boolean whole) {
        this(count, cores, memory, 0, whole);
    }

    /** The same in this way; whole GPUs are not shared. */
    public GpuAsk shared(Sharing how) {
        return whole || sharing.equals(how)
                ? this
                : new GpuAsk(count, cores, memory, memoryPercent, false, how);
    }

    /** Whether one of the GPUs that it asks for may be this one. */
    public boolean fitsOn(Gpu gpu) {
        return whole
                ? gpu.untouched()
                : gpu.cores() >= Math.max(1, cores)
                        && gpu.memory() >= memoryOf(gpu)
                        && isAdmittedTo(gpu);
    }

    /** Whether those who hold parts of a GPU, if any is left, share it as it would. */
    public boolean isAdmittedTo(Gpu gpu) {
        return whole || gpu.cores() <= 0 || gpu.admits(gpu.way(sharing));
    }

    /** What it would hold of a GPU on which it fits. */
    public GpuHold on(Gpu gpu) {
        return new GpuHold(gpu.id(), cores, memoryOf(gpu), whole, gpu.way(sharing));
    }

    private long memoryOf(Gpu gpu) {
        if (whole) {
            return gpu.size();
        }
        return memory > 0 ? memory : gpu.size() * memoryPercent / 100;
    }
}

package io.gpusharing.sharing;

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
}

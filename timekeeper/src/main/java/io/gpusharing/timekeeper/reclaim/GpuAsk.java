package io.gpusharing.timekeeper.reclaim;

/**
 * What one container asks of GPUs: {@code count} of them, of each so much.
 *
 * @param cores hundredths of each GPU's processors
 * @param memory device memory of each, in the provider's own blocks
 * @param whole whether it wants each GPU to itself
 */
record GpuAsk(int count, long cores, long memory, boolean whole) {

    boolean fitsOn(Gpu gpu) {
        return whole ? gpu.untouched() : gpu.cores() >= cores && gpu.memory() >= memory;
    }

    GpuHold on(Gpu gpu) {
        return new GpuHold(gpu.id(), cores, memory, whole);
    }
}

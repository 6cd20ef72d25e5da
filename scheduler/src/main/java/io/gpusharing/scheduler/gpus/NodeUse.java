package io.gpusharing.scheduler.gpus;

/**
 * How much of a node's GPUs is in use, by pods that are bound, about to be, or not quite gone.
 *
 * @param model of its first GPU; empty if it is not known
 * @param largestFree what is free of the GPU of which most is, from 0 to 1: of its processors or of
 *     its memory, whichever is less
 * @param idle GPUs of which nobody has anything
 * @param shared GPUs of which pods have parts
 * @param whole GPUs that a pod has to itself
 * @param unhealthy GPUs on which nothing may start
 */
public record NodeUse(
        String node,
        String model,
        double largestFree,
        int idle,
        int shared,
        int whole,
        int unhealthy) {}

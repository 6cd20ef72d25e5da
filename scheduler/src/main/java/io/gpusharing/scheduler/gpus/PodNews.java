package io.gpusharing.scheduler.gpus;

/**
 * What a pod is to be told.
 *
 * @param placed whether it is bound by now; else it waits
 * @param text why it waits
 */
public record PodNews(GpuPod pod, boolean placed, String text) {}

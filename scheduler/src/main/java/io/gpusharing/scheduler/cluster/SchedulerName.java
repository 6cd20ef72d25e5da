package io.gpusharing.scheduler.cluster;

/** The {@code spec.schedulerName} of the pods that are placed here. */
public record SchedulerName(String name) {}

package io.gpusharing.timekeeper.receipt;

import java.time.Duration;

/**
 * How far back an eviction has a bearing on what is done next; for so long its {@code GpuEviction}
 * is there.
 */
public record LookBack(Duration duration) {}

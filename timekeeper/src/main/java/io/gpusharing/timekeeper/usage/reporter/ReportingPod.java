package io.gpusharing.timekeeper.usage.reporter;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the API server says of a pod whose reports are taken.
 *
 * @param node where it runs; null while it waits
 * @param since it cannot have used a GPU before
 * @param gpus how many GPUs it holds at most, a fraction counted as one
 * @param ended whether its phase is terminal
 */
public record ReportingPod(
        UUID uid, @Nullable String node, Instant since, int gpus, boolean ended) {}

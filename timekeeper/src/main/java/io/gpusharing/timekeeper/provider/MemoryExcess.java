package io.gpusharing.timekeeper.provider;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * A pod that holds more memory of a GPU than it was given.
 *
 * @param device the GPU
 * @param since when its agent said so first, and has in each report from then on
 */
record MemoryExcess(
        UUID pod,
        String namespace,
        String name,
        String node,
        String device,
        long usedBytes,
        long grantedBytes,
        Instant since) {

    /** In words: {@code held 9100 MiB of GPU-… and was given 7680 …}. */
    String words() {
        return "held %d MiB of %s and was given %d, at least since %s"
                .formatted(
                        usedBytes >> 20,
                        device,
                        grantedBytes >> 20,
                        since.truncatedTo(ChronoUnit.SECONDS));
    }
}

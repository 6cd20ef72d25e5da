package io.gpusharing.timekeeper.injection;

import java.time.Instant;

/**
 * Whether new pods get the metering container, as far as its image goes. Exactly one of the two.
 */
sealed interface Injection {

    /** Distinguishes it from what held before. */
    Instant since();

    /**
     * They do.
     *
     * @param since pods that were created earlier no longer count
     */
    record On(Instant since) implements Injection {}

    /**
     * They do not: whatever else a site injects instead of this image, it is injected.
     *
     * @param image what cannot be pulled
     * @param since when the first of them was seen
     * @param pods how many pods waited for it when it was given up
     */
    record Off(String image, Instant since, int pods) implements Injection {}
}

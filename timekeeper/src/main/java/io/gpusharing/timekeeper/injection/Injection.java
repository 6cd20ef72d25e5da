package io.gpusharing.timekeeper.injection;

import java.time.Instant;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;

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
     * @param namespaces whose new pods get none; empty for all
     * @param since when the first of them was seen
     * @param pods in how many pods it could not be pulled when it was given up
     */
    record Off(String image, SortedSet<String> namespaces, Instant since, int pods)
            implements Injection {

        public Off {
            namespaces = Collections.unmodifiableSortedSet(new TreeSet<>(namespaces));
        }

        /** Whether no pod of any namespace gets one. */
        boolean everywhere() {
            return namespaces.isEmpty();
        }
    }
}

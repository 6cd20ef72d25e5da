package io.gpusharing.sharing;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which of the GPUs where a pod fits it gets. Whether it fits is the same by each. The names and
 * their meaning are those of the schedulers of HAMi ({@code binpack}, {@code spread}) and others.
 */
public enum Strategy {
    /** The fullest: few GPUs are used, and whole ones stay free. */
    BestFit,
    /** The emptiest: pods disturb each other least. */
    Spread;

    /** By its name. */
    public static Optional<Strategy> of(String name) {
        return Stream.of(values()).filter(it -> it.name().equals(name)).findFirst();
    }

    /**
     * Whether a node is better than another one.
     *
     * @param left what would be left there of the GPUs that a pod gets
     */
    public boolean prefers(long left, long other) {
        return this == BestFit ? left < other : left > other;
    }
}

package io.gpusharing.placement;

import java.util.Comparator;
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

    private static final Comparator<Gpu> FULLEST_FIRST =
            Comparator.comparingLong(Gpu::cores)
                    .thenComparingLong(Gpu::memory)
                    .thenComparing(Gpu::id);

    private static final Comparator<Gpu> EMPTIEST_FIRST =
            Comparator.comparingLong(Gpu::cores)
                    .thenComparingLong(Gpu::memory)
                    .reversed()
                    .thenComparing(Gpu::id);

    /** By its name. */
    public static Optional<Strategy> of(String name) {
        return Stream.of(values()).filter(it -> it.name().equals(name)).findFirst();
    }

    /** The first is the best. */
    public Comparator<Gpu> order() {
        return this == BestFit ? FULLEST_FIRST : EMPTIEST_FIRST;
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

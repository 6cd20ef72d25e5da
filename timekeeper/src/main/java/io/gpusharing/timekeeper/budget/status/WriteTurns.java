package io.gpusharing.timekeeper.budget.status;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Whose status is written next, and whose rests: an object with odd managed fields costs the API
 * server ten seconds, in which no other is written.
 */
final class WriteTurns {

    /** Usual are some hundredths of a second. */
    private static final Duration LONG = Duration.ofSeconds(1);

    /** So many times as long as a long write has taken. */
    private static final int REST = 20;

    private static final int REST_OF_FAILED = 2;
    private static final Duration LONGEST_REST = Duration.ofMinutes(5);

    /** After an outage, in which every write takes long and fails, nobody waits for minutes. */
    private static final Duration LONGEST_REST_OF_FAILED = Duration.ofSeconds(30);

    private final Map<String, Instant> resting = new HashMap<>();

    /** When each was written last, or was to be. */
    private final Map<String, Instant> tried = new HashMap<>();

    void clear() {
        resting.clear();
        tried.clear();
    }

    void forget(String name) {
        resting.remove(name);
        tried.remove(name);
    }

    /**
     * Those who cannot wait first, and of others whoever was written longest ago, so that those who
     * take turns all have theirs.
     */
    List<String> inOrder(Collection<String> names, Predicate<String> canWait) {
        return names.stream()
                .sorted(
                        Comparator.comparing(canWait::test)
                                .thenComparing(name -> tried.getOrDefault(name, Instant.MIN)))
                .toList();
    }

    /** Until when one is left alone that can wait; now or earlier if it is not. */
    Instant restsUntil(String name) {
        return resting.getOrDefault(name, Instant.MIN);
    }

    /** One was written, or could not be. */
    void tried(String name, Instant began, Instant ended, boolean written) {
        tried.put(name, began);
        resting.remove(name);
        Duration took = Duration.between(began, ended);
        if (took.compareTo(LONG) > 0) {
            resting.put(name, ended.plus(rest(took, written)));
        }
    }

    private static Duration rest(Duration took, boolean written) {
        Duration rest = took.multipliedBy(written ? REST : REST_OF_FAILED);
        Duration most = written ? LONGEST_REST : LONGEST_REST_OF_FAILED;
        return rest.compareTo(most) < 0 ? rest : most;
    }
}

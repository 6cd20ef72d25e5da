package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Knows which objects of namespaces cannot be read, so that budgets can say so. It looks twice a
 * minute: a tenant may make and delete thousands of them, and nothing is charged by it.
 */
@Component
class UnreadableWatch extends LeaderTask {

    private static final Duration EVERY = Duration.ofSeconds(30);

    private final UnreadableObjects objects;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private boolean begins;
    private volatile @Nullable List<Unreadable> present;

    UnreadableWatch(UnreadableObjects objects, Leadership leadership, Clock clock) {
        super("unreadable-watch", leadership, clock);
        this.objects = objects;
    }

    /** Calls back when there are others than before. Listeners must be quick. */
    void listen(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * A sentence on those in some namespaces, empty if there are none; nothing until this replica
     * has looked in this term. It names one object and quotes nothing of it: more people may see a
     * budget than its namespaces.
     */
    Optional<String> in(Predicate<String> namespaces) {
        return Optional.ofNullable(present)
                .map(all -> all.stream().filter(it -> namespaces.test(it.namespace())).toList())
                .map(UnreadableWatch::sentence);
    }

    private static String sentence(List<Unreadable> some) {
        if (some.isEmpty()) {
            return "";
        }
        Unreadable first = some.getFirst();
        String name = "%s %s/%s".formatted(first.kind(), first.namespace(), first.name());
        return switch (some.size()) {
            case 1 -> "1 object cannot be read: %s; an Event on it says why".formatted(name);
            default ->
                    "%d objects cannot be read, first %s; an Event on each says why"
                            .formatted(some.size(), name);
        };
    }

    @Override
    protected void takeOver() {
        present = null;
        begins = true;
    }

    @Override
    protected void handOver() {
        present = null;
    }

    @Override
    protected Instant work(Instant now) {
        if (begins) {
            // With each term the pods are listed and searched anew.
            begins = false;
            return now.plus(EVERY);
        }
        List<Unreadable> after =
                objects.present().stream()
                        .filter(it -> !it.namespace().isEmpty())
                        .sorted(
                                Comparator.comparing(Unreadable::namespace)
                                        .thenComparing(Unreadable::kind)
                                        .thenComparing(Unreadable::name))
                        .toList();
        if (!after.equals(present)) {
            present = after;
            listeners.forEach(Runnable::run);
        }
        return now.plus(EVERY);
    }
}

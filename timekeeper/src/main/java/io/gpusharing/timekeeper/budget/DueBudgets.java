package io.gpusharing.timekeeper.budget;

import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which budgets a part of the timekeeper has to look at: those that have changed since it looked,
 * and those whose time has come. So a round costs what there is to do, however many budgets there
 * are. Belongs to one thread, but for {@link #lookAtAll}.
 */
public final class DueBudgets {

    private final Budgets budgets;
    private final Set<String> changed = ConcurrentHashMap.newKeySet();
    private final StepQueue queue = new StepQueue();

    /**
     * @param trigger called after each change
     */
    public DueBudgets(Budgets budgets, Runnable trigger) {
        this.budgets = budgets;
        lookAtAll();
        budgets.listen(names -> {
            changed.addAll(names);
            trigger.run();
        });
    }

    /** What is remembered of them is void. */
    public void lookAtAll() {
        changed.addAll(budgets.states().keySet());
    }

    /** Those to look at now, also if they have gone. Each remains due until it is put off. */
    public List<String> due(Instant now) {
        for (String name : List.copyOf(changed)) {
            // Before it is read: a change that comes meanwhile is looked at again.
            changed.remove(name);
            queue.put(name, now);
        }
        return queue.due(now);
    }

    /**
     * @param until null until it changes
     */
    public void putOff(String budget, @Nullable Instant until) {
        queue.put(budget, until);
    }

    /** When the next one is due; null if none is before it changes. */
    @Nullable
    public Instant next() {
        return queue.next();
    }
}

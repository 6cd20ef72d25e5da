package io.gpusharing.scheduler.budgets;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.ObjectInformer;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * All budgets, as the watch shows them. A namespace belongs to one budget: of several that name it
 * to the older; of two created in the same second to the first by name. Any thread may ask while
 * another follows the cluster.
 *
 * <p>A budget that cannot be read keeps its namespaces, lest they seem unlimited, and is in doubt
 * until it can be read again.
 */
public final class Budgets implements ObjectInformer.Handler<GpuBudget> {

    private final InstantSource clock;
    private final Optional<String> shared;
    private final Map<String, KnownBudget> byName = new ConcurrentHashMap<>();

    /** Name of the budget by namespace. */
    private volatile Map<String, String> owners = Map.of();

    private volatile boolean known;

    /** Budgets that have not been listed yet; a namespace that none of them names is unlimited. */
    public Budgets(InstantSource clock) {
        this(clock, Optional.empty());
    }

    /**
     * The same.
     *
     * @param shared name of the budget of all namespaces that no other names, once the timekeeper
     *     has made it: it names each of them when it sees a pod there, and admission counts on it
     *     before; empty if they are unlimited until one names them
     */
    public Budgets(InstantSource clock, Optional<String> shared) {
        this.clock = clock;
        this.shared = shared;
    }

    /** Whether all budgets have been listed; before that nobody may act on what is here. */
    public boolean areKnown() {
        return known;
    }

    /** All budgets there are now. */
    public Collection<KnownBudget> all() {
        return List.copyOf(byName.values());
    }

    /** The budget of that name; empty if there is none. */
    public Optional<KnownBudget> named(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** The budget that pays for a namespace; empty if none does, so that it is unlimited. */
    public Optional<KnownBudget> ofNamespace(String namespace) {
        String owner = owners.get(namespace);
        return owner == null
                ? shared.flatMap(this::named).filter(KnownBudget::byDefault)
                : named(owner);
    }

    @Override
    public void onListed() {
        assign();
        known = true;
    }

    /**
     * Takes a budget that is new or has changed.
     *
     * @throws RuntimeException if it cannot be read
     */
    @Override
    public void onUpdate(GpuBudget object) {
        try {
            put(KnownBudget.of(object, clock.instant()));
        } catch (RuntimeException e) {
            put(KnownBudget.unreadable(object));
            throw e;
        }
    }

    @Override
    public void onDelete(GpuBudget object) {
        String name = object.getMetadata().getName();
        // Another budget may name its namespaces: at no instant are they unlimited.
        owners = owners(it -> !it.name().equals(name));
        byName.remove(name);
    }

    /** A status changes often, and costs no more than itself. */
    private void put(KnownBudget budget) {
        KnownBudget before = byName.put(budget.name(), budget);
        if (known && (before == null || !claimsTheSame(before.published(), budget.published()))) {
            assign();
        }
    }

    private static boolean claimsTheSame(PublishedBudget one, PublishedBudget other) {
        return one.created().equals(other.created())
                && one.spec().namespaces().equals(other.spec().namespaces());
    }

    private void assign() {
        owners = owners(_ -> true);
    }

    private Map<String, String> owners(Predicate<KnownBudget> which) {
        return PublishedBudget.owners(
                byName.values().stream().filter(which).map(KnownBudget::published));
    }
}

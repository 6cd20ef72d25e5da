package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.Terms;
import io.gpusharing.timekeeper.budget.account.Account;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.CarryOver;
import io.gpusharing.timekeeper.budget.account.OpenRates;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The accounts of all budgets. Each follows what is posted, and is computed anew from the ledger
 * where a step was passed, a late entry came, or the rules changed.
 */
final class Accounts {

    private static final Logger log = LoggerFactory.getLogger(Accounts.class);

    /** When to try again to compute a budget with which that failed. */
    private static final Duration TRY_AGAIN = Duration.ofMinutes(1);

    private final PeriodRepository periods;
    private final GrantRepository grants;
    private final UsageRepository usage;
    private final Map<String, Account> accounts = new HashMap<>();
    private final StepQueue steps = new StepQueue();

    /** By budget, also of those that nobody has made yet. */
    private final Map<String, OpenRates> open = new HashMap<>();

    private final Set<String> outdated = new HashSet<>();
    private final Set<String> changed = new HashSet<>();
    private final Map<String, List<CarryOver>> begun = new HashMap<>();

    /** Whether periods may have ended by terms that have changed since. */
    private boolean termsMissed = true;

    /** By the clock of that moment. */
    private Instant lastReplay = Instant.MIN;

    Accounts(PeriodRepository periods, GrantRepository grants, UsageRepository usage) {
        this.periods = periods;
        this.grants = grants;
        this.usage = usage;
    }

    @Nullable Account get(String budget) {
        return accounts.get(budget);
    }

    void forEach(BiConsumer<String, Account> action) {
        accounts.forEach(action);
    }

    /** A budget exists from now on. */
    Account open(Budget budget, Instant now) {
        Account account = new Account(budget, periods.latest(budget, now), ratesOf(budget.name()));
        accounts.put(budget.name(), account);
        steps.put(budget.name(), account.nextStep());
        // It may have been deleted for a while.
        termsMissed = true;
        return account;
    }

    /** All other budgets exist no more. */
    void retain(Set<String> budgets) {
        for (String name : List.copyOf(accounts.keySet())) {
            if (!budgets.contains(name)) {
                accounts.remove(name);
                begun.remove(name);
                steps.remove(name);
                changed.add(name);
            }
        }
    }

    /** These have to be computed anew. */
    void outdated(Collection<String> budgets) {
        outdated.addAll(budgets);
    }

    void allOutdated() {
        outdated.addAll(accounts.keySet());
    }

    /** What is shown of a budget has changed. */
    void changed(String budget) {
        changed.add(budget);
    }

    /** The budgets that have changed or gone since they were shown. */
    Set<String> changed() {
        return Set.copyOf(changed);
    }

    void shown() {
        changed.clear();
    }

    /** How a budget stands, also by what is not posted yet. */
    BudgetState state(String budget, Account account, Instant asOf) {
        return account.state(asOf, new BudgetUsage(usage, budget, null));
    }

    /** The ledger was read anew: these allocations are open. */
    void restored(Collection<PodAllocation> allocations) {
        open.values().forEach(OpenRates::clear);
        allocations.forEach(allocation -> ratesOf(allocation.budget()).opened(allocation));
        allOutdated();
    }

    /** A posting was committed. */
    void posted(Posting posting) {
        for (AllocationChange change : posting.changes()) {
            PodAllocation before = change.before();
            PodAllocation after = change.after();
            Instant since = change.since();
            if (since != null) {
                touch(after.budget(), account -> account.revised(since));
                if (before != null) {
                    touch(before.budget(), account -> account.revised(since));
                }
            }
            if (before != null && before.open()) {
                closed(before);
            }
            if (after.open()) {
                ratesOf(after.budget()).opened(after);
                touch(after.budget(), account -> {});
            }
        }
        posting.entries().forEach(this::posted);
        posting.corrections().stream()
                .map(Posting.Correction::entry)
                .forEach(it -> touch(it.budget(), account -> account.revised(it.from())));
    }

    private void posted(Entry entry) {
        touch(
                entry.budget(),
                account -> {
                    if (!outdated.contains(entry.budget()) && !account.posted(entry)) {
                        outdated.add(entry.budget());
                    }
                });
    }

    private void closed(PodAllocation allocation) {
        OpenRates rates = ratesOf(allocation.budget());
        rates.closed(allocation);
        if (rates.isEmpty() && !accounts.containsKey(allocation.budget())) {
            open.remove(allocation.budget());
        }
        touch(allocation.budget(), account -> {});
    }

    private OpenRates ratesOf(String budget) {
        return open.computeIfAbsent(budget, name -> new OpenRates());
    }

    private void touch(String budget, Consumer<Account> what) {
        Account account = accounts.get(budget);
        if (account != null) {
            what.accept(account);
            changed.add(budget);
        }
    }

    /** When the next account changes by itself; null if none does. */
    @Nullable Instant nextStep() {
        return steps.next();
    }

    /** Computes accounts anew whose time has come, and returns the last step of each. */
    Map<String, Instant> replay(Instant now) {
        var replayed = new HashMap<String, Instant>();
        if (now.isBefore(lastReplay)) {
            // A clock that was ahead has shown what is still to come, and has taken steps into it.
            changed.addAll(accounts.keySet());
            accounts.forEach((name, account) -> {
                if (account.base().isAfter(now)) {
                    outdated.add(name);
                }
            });
        }
        lastReplay = now;
        outdated.addAll(steps.due(now));
        for (String name : List.copyOf(outdated)) {
            Account account = accounts.get(name);
            if (account != null) {
                replay(name, account, now);
                replayed.put(name, account.base());
            }
        }
        outdated.clear();
        changed.addAll(replayed.keySet());
        return replayed;
    }

    /** Computes one account anew by its terms as they are written. */
    void replay(String name, Account account, Instant now) {
        isolated(
                name,
                account,
                now,
                () -> {
                    Budget written = account.written();
                    Terms terms = written.spec().terms().orElse(null);
                    begun(name, replay(name, account, written.periods(), terms, now));
                    termsMissed |= account.takeUp();
                });
    }

    /**
     * Absurd amounts or dates of one budget, in its spec or in the ledger's rows, must not stop the
     * others. Nothing is written down for ever of a budget that cannot be computed.
     */
    void isolated(String name, Account account, Instant now, Runnable computing) {
        try {
            computing.run();
        } catch (ArithmeticException | DateTimeException | IllegalArgumentException e) {
            log.atLevel(account.isSetAside() ? Level.DEBUG : Level.ERROR)
                    .setCause(e)
                    .addKeyValue("budget", name)
                    .log("this budget cannot be computed; it has no limit until it can");
            account.setAside(String.valueOf(e.getMessage()), now.plus(TRY_AGAIN));
            steps.put(name, account.nextStep());
            begun.remove(name);
            outdated.remove(name);
            changed.add(name);
        }
    }

    /**
     * Computes one account anew by other terms.
     *
     * @return the periods that have begun since the last that was opened
     */
    List<CarryOver> replay(
            String name, Account account, PeriodRule rule, @Nullable Terms terms, Instant now) {
        CarryOver carryOver = periods.latest(account.written(), now);
        List<CarryOver> next =
                account.replay(
                        carryOver,
                        rule,
                        terms,
                        grants.countingSince(name, carryOver.countedFrom()),
                        new BudgetUsage(usage, name, null),
                        now);
        steps.put(name, account.nextStep());
        return next;
    }

    boolean termsMissed() {
        return termsMissed;
    }

    void termsMissed(boolean missed) {
        termsMissed = missed;
    }

    /** By budget, periods that have begun and are not opened yet. */
    Map<String, List<CarryOver>> begun() {
        return begun;
    }

    /** Of a budget, these are not opened yet. */
    void begun(String budget, List<CarryOver> periodsBegun) {
        if (periodsBegun.isEmpty()) {
            begun.remove(budget);
        } else {
            begun.put(budget, periodsBegun);
        }
    }
}

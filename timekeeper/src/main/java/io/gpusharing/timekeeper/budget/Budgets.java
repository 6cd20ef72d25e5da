package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.Terms;
import io.gpusharing.timekeeper.budget.account.Account;
import io.gpusharing.timekeeper.budget.account.BalanceReplay;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.CarryOver;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.budget.account.OpenRates;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository.Version;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import io.gpusharing.timekeeper.ledger.RateSource;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.stereotype.Component;

/**
 * The accounts of all budgets. Any thread may read {@link #states}; everything else belongs to the
 * ledger writer's thread.
 */
@Component
public class Budgets implements RateSource, LedgerListener {

    private static final Logger log = LoggerFactory.getLogger(Budgets.class);

    /** When to try again to compute a budget with which that failed. */
    private static final Duration TRY_AGAIN = Duration.ofMinutes(1);

    /** Of how many budgets periods are opened between two postings: each takes milliseconds. */
    private static final int MAX_OPENED = 10;

    private final PeriodRepository periods;
    private final GrantRepository grants;
    private final UsageRepository usage;
    private final TermsRepository terms;
    private final BudgetProperties properties;
    private final Clock clock;
    private final PayerTable rates;
    private final List<Consumer<Set<String>>> listeners = new CopyOnWriteArrayList<>();

    private final Map<String, Account> accounts = new HashMap<>();
    private final StepQueue steps = new StepQueue();

    /** By budget, also of those that nobody has made yet. */
    private final Map<String, OpenRates> open = new HashMap<>();

    private final Set<String> outdated = new HashSet<>();
    private final Map<String, List<CarryOver>> begun = new HashMap<>();
    private final Set<String> changed = new HashSet<>();
    private final Map<String, BudgetState> states = new ConcurrentHashMap<>();
    private volatile boolean settled;

    /** The grants there are: budget by uid; null until they are known. */
    private @Nullable Map<String, String> granted;

    /** Whether terms may have changed that nobody has closed the ended periods by. */
    private boolean unclosed = true;

    private boolean moreToOpen;

    Budgets(
            PeriodRepository periods,
            GrantRepository grants,
            UsageRepository usage,
            TermsRepository terms,
            BudgetProperties properties,
            Clock clock) {
        this.periods = periods;
        this.grants = grants;
        this.usage = usage;
        this.terms = terms;
        this.properties = properties;
        this.clock = clock;
        this.rates = new PayerTable(properties);
    }

    /** All budgets by name, each as of when it last changed. */
    public Map<String, BudgetState> states() {
        return Collections.unmodifiableMap(states);
    }

    /**
     * Whether {@link #states} may be acted on: this replica leads, and has caught up with
     * everything that happened before its term.
     */
    public boolean settled() {
        return settled;
    }

    /** One budget. */
    public Optional<BudgetState> state(String name) {
        return Optional.ofNullable(states.get(name));
    }

    /**
     * A budget that exists now.
     *
     * @throws UnknownBudgetException if it does not
     */
    public BudgetState existing(String name) {
        return state(name).orElseThrow(() -> new UnknownBudgetException(name));
    }

    /** The budget that pays for a namespace; empty if none names it. */
    public Optional<BudgetState> ofNamespace(String namespace) {
        return states.values().stream().filter(state -> state.paysFor(namespace)).findFirst();
    }

    /**
     * Calls back with the names of the budgets whose state has changed, or that have gone, in the
     * ledger writer's thread. Listeners must be quick.
     */
    public void listen(Consumer<Set<String>> listener) {
        listeners.add(listener);
    }

    /** These budgets exist from now on. */
    public void known(Collection<Budget> budgets) {
        rates.assign(budgets, now());
        Set<String> names = budgets.stream().map(Budget::name).collect(Collectors.toSet());
        List.copyOf(accounts.keySet()).stream()
                .filter(name -> !names.contains(name))
                .forEach(this::close);
        budgets.forEach(this::known);
        noteMissingQuotas();
    }

    private void known(Budget budget) {
        String name = budget.name();
        Account account = accounts.get(name);
        if (account != null && account.isOf(budget, rates.conflicts(name))) {
            return;
        }
        if (account == null) {
            account = open(budget);
            // It may have been deleted for a while.
            unclosed = true;
        } else if (!account.written().sameTerms(budget)) {
            // Other terms are of the present period; the last one is closed by its own.
            if (settled) {
                open(name, carryOver -> true, now());
            } else {
                unclosed = true;
            }
        }
        account.changed(budget, rates.conflicts(name));
        outdated.add(name);
    }

    private void close(String name) {
        accounts.remove(name);
        begun.remove(name);
        steps.remove(name);
        changed.add(name);
    }

    /** What the namespaces' own quotas allow from now on, in core units and blocks of memory. */
    public void quotas(Map<String, Fixed> byNamespace) {
        rates.quotas(byNamespace, now());
        noteMissingQuotas();
    }

    private Account open(Budget budget) {
        Account account = new Account(budget, periods.latest(budget), ratesOf(budget.name()));
        accounts.put(budget.name(), account);
        steps.put(budget.name(), account.nextStep());
        return account;
    }

    private void noteMissingQuotas() {
        accounts.forEach((name, account) -> {
            if (account.withoutQuota(rates.withoutQuota(account.budget()))) {
                changed.add(name);
            }
        });
    }

    @Override
    public Payer of(String namespace) {
        return rates.of(namespace);
    }

    @Override
    public @Nullable Set<String> repriced() {
        return rates.repriced();
    }

    @Override
    public @Nullable Instant cutAfter(String budget, Instant instant) {
        Account account = accounts.get(budget);
        return account == null ? null : account.cutAfter(instant);
    }

    @Override
    public void restored(Collection<PodAllocation> open) {
        settled = false;
        this.open.values().forEach(OpenRates::clear);
        open.forEach(allocation -> ratesOf(allocation.budget()).opened(allocation));
        outdated.addAll(accounts.keySet());
    }

    @Override
    public void posted(Posting posting) {
        for (AllocationChange change : posting.changes()) {
            PodAllocation before = change.before();
            PodAllocation after = change.after();
            Instant since = changedSince(before, after);
            if (since != null) {
                touch(after.budget(), account -> account.retold(since));
                if (before != null) {
                    touch(before.budget(), account -> account.retold(since));
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
                .forEach(it -> touch(it.budget(), account -> account.retold(it.from())));
    }

    @Override
    public void corrected(String budget) {
        outdated.add(budget);
    }

    /** Since when an allocation costs otherwise than was known; null if it was only posted. */
    private static @Nullable Instant changedSince(
            @Nullable PodAllocation before, PodAllocation after) {
        if (before == null) {
            return after.from();
        }
        if (before.open() != after.open()) {
            return after.until() != null ? after.until() : before.until();
        }
        boolean same = before.rate() == after.rate() && before.budget().equals(after.budget());
        return same ? null : after.postedUntil();
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

    @Override
    public @Nullable Instant nextDue() {
        return moreToOpen ? Instant.EPOCH : steps.next();
    }

    @Override
    public Map<String, Instant> due(Instant now) {
        moreToOpen = false;
        return replay(now);
    }

    /** Computes accounts anew where a step was passed, a late entry came, or the rules changed. */
    private Map<String, Instant> replay(Instant now) {
        var replayed = new HashMap<String, Instant>();
        outdated.addAll(steps.due(now));
        for (String name : List.copyOf(outdated)) {
            Account account = accounts.get(name);
            if (account != null) {
                replayAlone(name, account, now);
                replayed.put(name, account.base());
            }
        }
        outdated.clear();
        changed.addAll(replayed.keySet());
        return replayed;
    }

    /**
     * Absurd amounts or dates of one budget, in its spec or in the ledger's rows, must not stop the
     * others. Nothing is written down for ever of a budget that cannot be computed.
     */
    private void replayAlone(String name, Account account, Instant now) {
        alone(
                name,
                account,
                now,
                () -> {
                    replay(name, account, now);
                    if (account.takeUp()) {
                        // Meanwhile periods may have ended by terms that have changed since.
                        unclosed = true;
                    }
                });
    }

    private void alone(String name, Account account, Instant now, Runnable computing) {
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

    private void replay(String name, Account account, Instant now) {
        Budget written = account.written();
        begun(
                name,
                replay(name, account, written.periods(), written.spec().terms().orElse(null), now));
    }

    private void begun(String name, List<CarryOver> periodsBegun) {
        if (periodsBegun.isEmpty()) {
            begun.remove(name);
        } else {
            begun.put(name, periodsBegun);
        }
    }

    private List<CarryOver> replay(
            String name, Account account, PeriodRule rule, @Nullable Terms then, Instant now) {
        CarryOver carryOver = periods.latest(account.written());
        List<CarryOver> next =
                account.replay(
                        carryOver,
                        rule,
                        then,
                        grants.countingSince(name, carryOver.countedFrom()),
                        new PostedUsage(usage, name),
                        now);
        steps.put(name, account.nextStep());
        return next;
    }

    /**
     * Writes down which periods have begun, once all that was used before them is posted: of a few
     * budgets at a time, since all of them may begin at the same midnight and pods must not wait.
     */
    private void open(Instant now) {
        Instant closed = now.minus(properties.periodCloses());
        Predicate<CarryOver> isOver = it -> !it.period().start().isAfter(closed);
        List<String> over =
                begun.entrySet().stream()
                        .filter(it -> accounts.containsKey(it.getKey()))
                        .filter(it -> it.getValue().stream().anyMatch(isOver))
                        .map(Map.Entry::getKey)
                        .limit(MAX_OPENED + 1L)
                        .toList();
        over.stream().limit(MAX_OPENED).forEach(name -> open(name, isOver, now));
        moreToOpen = over.size() > MAX_OPENED;
    }

    /**
     * Closes periods by their own terms if those were changed after their end and nobody who led
     * saw it, or while the budget was deleted.
     */
    private void closeWhatWasMissed(Instant now) {
        for (String name : List.copyOf(begun.keySet())) {
            Account account = accounts.get(name);
            if (account != null) {
                alone(name, account, now, () -> closeWhatWasMissed(name, account, now));
            }
        }
        replay(now);
    }

    private void closeWhatWasMissed(String name, Account account, Instant now) {
        List<CarryOver> missed = begun.getOrDefault(name, List.of());
        List<Version> versions = missed.isEmpty() ? List.of() : terms.of(name);
        while (missed.stream().anyMatch(it -> !isOf(account, closedBy(versions, it)))) {
            Version own = closedBy(versions, missed.getFirst());
            List<CarryOver> closed =
                    own == null
                            ? replay(
                                    name, account, account.budget().periods(), account.terms(), now)
                            : replay(name, account, own.periods(), own.terms(), now);
            outdated.add(name);
            // Nothing has ended any more if the clock went back.
            closed.stream().findFirst().ifPresent(it -> periods.open(name, it));
            missed = closed.stream().skip(1).toList();
        }
    }

    /** The terms by which what was before an opening is closed; null if nobody saw any then. */
    private static @Nullable Version closedBy(List<Version> versions, CarryOver next) {
        return TermsRepository.lastBefore(versions, next.period().start());
    }

    private static boolean isOf(Account account, @Nullable Version version) {
        return version == null
                || (version.periods().equals(account.budget().periods())
                        && Objects.equals(version.terms(), account.terms()));
    }

    /** What is written down for ever is computed from the rows of this moment, not from memory. */
    private void open(String budget, Predicate<CarryOver> which, Instant now) {
        Account account = accounts.get(budget);
        boolean any = begun.getOrDefault(budget, List.of()).stream().anyMatch(which);
        if (account == null || !any) {
            return;
        }
        replayAlone(budget, account, now);
        List<CarryOver> all = begun.getOrDefault(budget, List.of());
        all.stream().filter(which).forEach(it -> periods.open(budget, it));
        begun(budget, all.stream().filter(which.negate()).toList());
    }

    /** These grants exist from now on; those that are gone end now. */
    public void granted(Collection<Grant> present) {
        Map<String, String> now =
                present.stream().collect(Collectors.toMap(Grant::uid, Grant::budget));
        Map<String, String> before = granted == null ? Map.of() : granted;
        present.stream().filter(it -> !before.containsKey(it.uid())).forEach(grants::write);
        outdated.addAll(grants.stand(now.keySet(), now()));
        if (granted == null) {
            // Another replica may have ended some since these accounts were computed.
            outdated.addAll(accounts.keySet());
        }
        outdated.addAll(budgetsOfOthers(before, now));
        outdated.addAll(budgetsOfOthers(now, before));
        granted = now;
    }

    private static List<String> budgetsOfOthers(
            Map<String, String> grants, Map<String, String> than) {
        return grants.entrySet().stream()
                .filter(it -> !than.containsKey(it.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    private record PostedUsage(UsageRepository committed, String budget)
            implements BalanceReplay.Usage {

        @Override
        public Map<String, GpuTime> posted(Instant from, @Nullable Instant to) {
            return committed.posted(budget, from, to);
        }

        @Override
        public Map<String, GpuTime> late(Instant before, Instant since) {
            return committed.late(budget, before, since, null);
        }
    }

    @Override
    public void unmeasured(Map<String, Integer> allocations) {
        accounts.forEach((name, account) -> {
            if (account.unmeasured(allocations.getOrDefault(name, 0))) {
                changed.add(name);
            }
        });
    }

    @Override
    public void followed(Instant now) {
        settled = false;
        unclosed = true;
        replay(now);
        // The leader writes down which periods have begun.
        begun.clear();
        if (!changed.isEmpty()) {
            show(now, false);
        }
    }

    @Override
    public void upToDate(Instant now) {
        // Allocations that were posted up to a step have brought entries before it.
        replay(now);
        if (unclosed) {
            closeWhatWasMissed(now);
            unclosed = false;
        }
        open(now);
        if (!settled || !changed.isEmpty()) {
            show(now, true);
        }
    }

    private void show(Instant now, boolean conclusive) {
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        var computed = new ArrayList<BudgetState>();
        for (String name : changed) {
            Account account = accounts.get(name);
            if (account == null) {
                states.remove(name);
                continue;
            }
            BudgetState state =
                    account.state(
                            second, (from, to) -> BalanceReplay.sum(usage.used(name, from, to)));
            states.put(name, state);
            if (!account.isSetAside()) {
                computed.add(state);
            }
        }
        Set<String> names = Set.copyOf(changed);
        changed.clear();
        settled = conclusive;
        terms.note(computed);
        listeners.forEach(listener -> listener.accept(names));
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }
}

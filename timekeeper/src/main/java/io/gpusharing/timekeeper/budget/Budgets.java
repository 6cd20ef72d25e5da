package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.RateRule;
import io.gpusharing.timekeeper.budget.account.Account;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PayerRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.RateSource;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * All budgets: who pays for a namespace, and how each budget stands. Any thread may read {@link
 * #states}; everything else belongs to the ledger writer's thread.
 */
@Component
public class Budgets implements RateSource, LedgerListener {

    private final GrantRepository grants;
    private final TermsRepository terms;
    private final PayerRepository paid;
    private final Clock clock;
    private final PayerTable payers;
    private final Accounts accounts;
    private final PeriodOpener opener;
    private final List<Consumer<Set<String>>> listeners = new CopyOnWriteArrayList<>();
    private final Map<String, BudgetState> states = new ConcurrentHashMap<>();
    private volatile boolean settled;
    private volatile @Nullable Instant caughtUp;
    private @Nullable Instant received;

    /** Whether it is known who paid before we started. */
    private boolean restored;

    private volatile Map<String, Fixed> quotas = Map.of();

    /**
     * The budgets that there were, by the second in which they were seen; until it is their turn.
     */
    private final ConcurrentSkipListMap<Instant, Collection<Budget>> seen =
            new ConcurrentSkipListMap<>();

    /** The grants there are: budget by uid; null until they are known. */
    private @Nullable Map<String, String> granted;

    Budgets(
            PeriodRepository periods,
            GrantRepository grants,
            UsageRepository usage,
            TermsRepository terms,
            PayerRepository paid,
            BudgetProperties properties,
            Clock clock) {
        this.grants = grants;
        this.terms = terms;
        this.paid = paid;
        this.clock = clock;
        this.payers = new PayerTable(properties);
        this.accounts = new Accounts(periods, grants, usage);
        this.opener = new PeriodOpener(accounts, periods, terms, properties.periodCloses());
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

    /** Up to when all that was reported of pods is in {@link #states}; null if not known. */
    public @Nullable Instant caughtUp() {
        return caughtUp;
    }

    /** Says that all that was reported until an instant has been posted. */
    public void received(Instant until) {
        received = until;
    }

    /** One budget. */
    public Optional<BudgetState> state(String name) {
        return Optional.ofNullable(states.get(name));
    }

    /**
     * A budget that exists now.
     *
     * @throws ResponseStatusException 404 if it does not
     */
    public BudgetState existing(String name) {
        return state(name)
                .orElseThrow(() ->
                        new ResponseStatusException(
                                HttpStatus.NOT_FOUND, "There is no GpuBudget named " + name));
    }

    /** The budget that pays for a namespace; empty if none names it. */
    public Optional<BudgetState> ofNamespace(String namespace) {
        return states.values().stream().filter(state -> state.paysFor(namespace)).findFirst();
    }

    /** How what a pod of a namespace holds becomes a rate now. Any thread may ask. */
    public RateRule rule(String namespace) {
        return ofNamespace(namespace)
                .map(state -> RateRule.of(state.spec().share(), quotas.get(namespace)))
                .orElse(RateRule.DEFAULT);
    }

    /**
     * Calls back with the names of the budgets whose state has changed, or that have gone, in the
     * ledger writer's thread. Listeners must be quick.
     */
    public void listen(Consumer<Set<String>> listener) {
        listeners.add(listener);
    }

    /**
     * These budgets exist from now on, as any thread may say. Who pays follows from when that was;
     * everything else from when they are {@link #known}.
     */
    public void seen(Collection<Budget> budgets) {
        seen.put(now(), List.copyOf(budgets));
    }

    /** These budgets exist from now on. */
    public void known(Collection<Budget> budgets) {
        if (!restored) {
            payers.restore(paid.last(), paid.seen());
            restored = true;
        }
        for (var next = seen.pollFirstEntry(); next != null; next = seen.pollFirstEntry()) {
            payers.assign(next.getValue(), next.getKey());
        }
        payers.assign(budgets, now());
        accounts.retain(budgets.stream().map(Budget::name).collect(Collectors.toSet()));
        budgets.forEach(this::known);
        noteMissingQuotas();
    }

    private void known(Budget budget) {
        String name = budget.name();
        Account account = accounts.get(name);
        if (account != null && account.isOf(budget, payers.conflicts(name))) {
            return;
        }
        if (account == null) {
            account = accounts.open(budget, now());
        } else if (!account.written().sameTerms(budget)) {
            // Other terms are of the present period; the last one is closed by its own.
            if (settled) {
                opener.openAll(name, now());
            } else {
                accounts.termsMissed(true);
            }
        }
        account.changed(budget, payers.conflicts(name));
        accounts.outdated(List.of(name));
    }

    /** What the namespaces' own quotas allow from now on, in core units and blocks of memory. */
    public void quotas(Map<String, Fixed> byNamespace) {
        quotas = byNamespace;
        payers.quotas(byNamespace, now());
        noteMissingQuotas();
    }

    private void noteMissingQuotas() {
        accounts.forEach((name, account) -> {
            if (account.withoutQuota(payers.withoutQuota(account.budget()))) {
                accounts.changed(name);
            }
        });
    }

    /** These grants exist from now on; those that are gone end now. */
    public void granted(Collection<Grant> present) {
        Map<String, String> now =
                present.stream().collect(Collectors.toMap(Grant::uid, Grant::budget));
        Map<String, String> before = granted == null ? Map.of() : granted;
        grants.write(present.stream().filter(it -> !before.containsKey(it.uid())).toList());
        accounts.outdated(grants.stand(now.keySet(), now()));
        if (granted == null) {
            // Another replica may have ended some since these accounts were computed.
            accounts.allOutdated();
        }
        accounts.outdated(budgetsOfOthers(before, now));
        accounts.outdated(budgetsOfOthers(now, before));
        granted = now;
    }

    private static List<String> budgetsOfOthers(
            Map<String, String> grants, Map<String, String> than) {
        return grants.entrySet().stream()
                .filter(it -> !than.containsKey(it.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    @Override
    public Payer of(String namespace) {
        return payers.of(namespace);
    }

    @Override
    public @Nullable Set<String> repriced() {
        return payers.repriced();
    }

    @Override
    public @Nullable Instant unsettledSince() {
        Map.Entry<Instant, Collection<Budget>> first = seen.firstEntry();
        return first == null ? null : first.getKey();
    }

    @Override
    public @Nullable Instant cutAfter(String budget, Instant instant) {
        Account account = accounts.get(budget);
        return account == null ? null : account.cutAfter(instant);
    }

    @Override
    public void restored(Collection<PodAllocation> open) {
        settled = false;
        accounts.restored(open);
    }

    @Override
    public void posted(Posting posting) {
        accounts.posted(posting);
    }

    @Override
    public void corrected(String budget) {
        accounts.outdated(List.of(budget));
    }

    @Override
    public @Nullable Instant nextDue() {
        return opener.isMoreToOpen() ? Instant.EPOCH : accounts.nextStep();
    }

    @Override
    public Map<String, Instant> due(Instant now) {
        opener.beginRound();
        return accounts.replay(now);
    }

    @Override
    public void unmeasured(Map<String, Integer> allocations) {
        accounts.forEach((name, account) -> {
            if (account.unmeasured(allocations.getOrDefault(name, 0))) {
                accounts.changed(name);
            }
        });
    }

    @Override
    public void followed(Instant now) {
        settled = false;
        accounts.termsMissed(true);
        opener.follow();
        accounts.replay(now);
        // The leader writes down which periods have begun.
        accounts.begun().clear();
        if (!accounts.changed().isEmpty()) {
            show(now, false);
        }
    }

    @Override
    public void upToDate(Instant now) {
        paid.write(payers.unwritten(), now);
        payers.written();
        // Allocations that were posted up to a step have brought entries before it.
        accounts.replay(now);
        opener.open(now);
        if (!settled || !accounts.changed().isEmpty()) {
            show(now, true);
        }
        caughtUp = received;
    }

    private void show(Instant now, boolean conclusive) {
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        var computed = new ArrayList<Budget>();
        Set<String> changed = accounts.changed();
        for (String name : changed) {
            Account account = accounts.get(name);
            if (account == null) {
                states.remove(name);
                continue;
            }
            BudgetState state = accounts.state(name, account, second);
            states.put(name, state);
            if (!account.isSetAside()) {
                computed.add(account.budget());
            }
        }
        accounts.shown();
        settled = conclusive;
        terms.note(computed);
        listeners.forEach(listener -> listener.accept(changed));
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }
}

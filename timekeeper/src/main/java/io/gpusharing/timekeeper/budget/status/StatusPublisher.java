package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.budget.AppliedStatus;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.DueBudgets;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Writes {@code GpuBudget.status} by server-side apply, when a {@link Publication} says so: at once
 * when the standing changes, within a second when the line would soon decide otherwise, and
 * regularly while time is used, so that people see it grow. Only budgets that changed, or whose
 * time has come, are looked at. What can wait is written at a pace that no API server notices, so
 * that it costs the API server and those who watch budgets no more with thousands of them.
 */
@Component
class StatusPublisher extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(StatusPublisher.class);

    /** Writes a second of what can wait. */
    private static final int MAX_PATIENT = 50;

    private static final Duration RETRY = Duration.ofSeconds(1);

    /** How long nobody is looked for who has become more urgent meanwhile. */
    private static final Duration ROUND = Duration.ofSeconds(1);

    /** How long it may be that nothing is to be written until the next round says so. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private final KubernetesClient client;
    private final Budgets budgets;
    private final BudgetWatch watch;
    private final NamespaceWatch namespaces;
    private final UncountedWatch uncounted;
    private final UnreadableWatch unreadable;
    private final CatchUp catchUp;
    private final ProblemEvents problems;
    private final BudgetProperties properties;
    private final Map<String, Publication> published = new HashMap<>();
    private final DueBudgets due;

    private final WritePace pace;
    private final WriteTurns turns = new WriteTurns();
    private final Clock clock;

    /** Budgets whose status could not be written: logged once. */
    private final Set<String> failing = new HashSet<>();

    StatusPublisher(
            KubernetesClient client,
            Budgets budgets,
            BudgetWatch watch,
            NamespaceWatch namespaces,
            UncountedWatch uncounted,
            UnreadableWatch unreadable,
            CatchUp catchUp,
            BudgetProperties properties,
            Leadership leadership,
            Clock clock) {
        super("status-publisher", leadership, clock);
        this.client = client;
        this.budgets = budgets;
        this.watch = watch;
        this.namespaces = namespaces;
        this.uncounted = uncounted;
        this.unreadable = unreadable;
        this.catchUp = catchUp;
        this.problems = new ProblemEvents(client);
        this.properties = properties;
        this.clock = clock;
        this.due = new DueBudgets(budgets, this::trigger);
        this.pace = new WritePace(MAX_PATIENT, properties.statusSpacing());
        namespaces.listen(this::lookAtAll);
        uncounted.listen(this::lookAtAll);
        unreadable.listen(this::lookAtAll);
    }

    private void lookAtAll() {
        due.lookAtAll();
        trigger();
    }

    @Override
    protected void takeOver() {
        published.clear();
        turns.clear();
        catchUp.clear();
        due.lookAtAll();
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!budgets.settled()) {
            return null;
        }
        pace.beginRound(now);
        Instant enough = now.plus(ROUND);
        for (String name : turns.inOrder(look(now), name -> saysItsStanding(name, now))) {
            // After a while others may be more urgent: one large object takes seconds.
            if (!leads() || clock.instant().isAfter(enough)) {
                return now;
            }
            due.putOff(name, publish(name, now));
        }
        return sooner(due.next(), now.plus(LONGEST_PAUSE));
    }

    /** Judges the budgets to look at now. */
    private List<String> look(Instant now) {
        // Asked before who has changed: what changes later is no part of it.
        Instant ledger = budgets.caughtUp();
        List<String> names = due.due(now);
        Map<String, BudgetState> states = budgets.states();
        var looked = new HashMap<String, CatchUp.Published>();
        for (String name : names) {
            looked.put(
                    name,
                    CatchUp.Published.of(states.get(name), published.get(name), now, properties));
        }
        catchUp.begin(ledger, looked, now);
        return names;
    }

    /** Writes the status if it has to be written; when to look again, null if never. */
    private @Nullable Instant publish(String name, Instant now) {
        BudgetState state = budgets.states().get(name);
        if (state == null) {
            published.remove(name);
            failing.remove(name);
            turns.forget(name);
            return null;
        }
        if (state.isAhead(now)) {
            // Our clock was ahead. The state is computed anew once that is noticed.
            return state.asOf();
        }
        Instant at = due(state, now);
        if (at == null || at.isAfter(now)) {
            return at;
        }
        Instant rested = turns.restsUntil(name);
        if (rested.isAfter(now) && (failing.contains(name) || decidesAlike(state, now))) {
            // Before what stands there can end: it may decide otherwise then.
            return sooner(
                    sooner(rested, now.plus(properties.statusSpacing())),
                    Alerts.nextAfter(state, now));
        }
        if (decidesAlike(state, now) && !pace.takesTurn()) {
            return pace.nextTurn();
        }
        Instant began = clock.instant();
        boolean written = write(state, now);
        turns.tried(name, began, clock.instant(), written);
        return written ? due(state, now) : now.plus(RETRY);
    }

    /** After a change of leaders all are written anew, and most of them say what they said. */
    private boolean saysItsStanding(String name, Instant now) {
        BudgetState state = budgets.states().get(name);
        Publication last = published.get(name);
        Budget present = watch.get(name);
        if (state == null || present == null) {
            return true;
        }
        GpuBudgetStatus before = present.published();
        String said =
                last != null ? last.alerts().standing() : before == null ? null : before.standing();
        return state.standingWord(now).equals(said);
    }

    private boolean decidesAlike(BudgetState state, Instant now) {
        Publication last = published.get(state.name());
        return last != null && last.decidesAlike(state, now, properties);
    }

    private @Nullable Instant due(BudgetState state, Instant now) {
        Publication last = published.get(state.name());
        if (last == null || !unmatched(state).equals(last.unmatched())) {
            return now;
        }
        return last.successorDue(
                state,
                uncounted.present().map(Uncounted::message).orElse(last.uncounted()),
                unreadable.in(state::paysFor).orElse(last.unreadable()),
                now,
                properties);
    }

    /**
     * Those of a budget by default were there when we made it; what they used stays in its list.
     */
    private Optional<UnmatchedNamespaces> unmatched(BudgetState state) {
        Budget present = watch.get(state.name());
        return present == null || present.byDefault()
                ? Optional.empty()
                : namespaces.among(state.spec().namespaces());
    }

    private boolean write(BudgetState state, Instant now) {
        Budget present = watch.get(state.name());
        if (present == null) {
            return true;
        }
        Optional<UnmatchedNamespaces> unmatched = unmatched(state);
        GpuBudgetStatus before = present.published();
        GpuBudgetStatus status =
                Publication.document(
                        state,
                        asOf(state, now),
                        Alerts.at(state, now),
                        unmatched,
                        uncounted.present(),
                        unreadable.in(state::paysFor),
                        before);
        try {
            AppliedStatus.write(
                    client,
                    GpuBudget.KIND,
                    new ObjectMetaBuilder().withName(state.name()).build(),
                    status);
            published.put(
                    state.name(),
                    Publication.of(state, now)
                            .saying(
                                    unmatched,
                                    BudgetConditions.message(status, BudgetConditions.UNCOUNTED),
                                    BudgetConditions.message(status, BudgetConditions.UNREADABLE)));
            failing.remove(state.name());
            catchUp.written(state.name());
            problems.announce(state, before, status, now);
            return true;
        } catch (KubernetesClientException e) {
            if (failing.add(state.name())) {
                log.atWarn()
                        .addKeyValue("budget", state.name())
                        .addKeyValue("code", e.getCode())
                        .addKeyValue("problem", e.getMessage())
                        .log("cannot write status, trying again");
            }
            return false;
        }
    }

    /** A whole second, up to which nothing is rounded, or the very instant of exhaustion. */
    private static Instant asOf(BudgetState state, Instant now) {
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        Instant exhausted = state.exhaustedAt();
        return exhausted != null && exhausted.isAfter(second) && !exhausted.isAfter(now)
                ? exhausted
                : second;
    }
}

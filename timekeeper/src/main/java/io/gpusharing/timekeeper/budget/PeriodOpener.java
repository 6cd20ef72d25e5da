package io.gpusharing.timekeeper.budget;

import io.gpusharing.timekeeper.budget.account.Account;
import io.gpusharing.timekeeper.budget.account.CarryOver;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository.Version;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Writes down which periods have begun and what they took over, once all that was used before them
 * is posted.
 */
final class PeriodOpener {

    /** Of how many budgets periods are opened between two postings: each takes milliseconds. */
    private static final int MAX_OPENED = 10;

    private final Accounts accounts;
    private final PeriodRepository periods;
    private final TermsRepository terms;
    private final Duration closesAfter;
    private boolean moreToOpen;

    /** When we did so last; later than any clock says while another may have done so since. */
    private Instant lastOpened = Instant.MAX;

    /**
     * @param closesAfter how long after its end a period is closed, and the next one opened
     */
    PeriodOpener(
            Accounts accounts,
            PeriodRepository periods,
            TermsRepository terms,
            Duration closesAfter) {
        this.accounts = accounts;
        this.periods = periods;
        this.terms = terms;
        this.closesAfter = closesAfter;
    }

    /** Another replica leads, by a clock of its own. */
    void follow() {
        lastOpened = Instant.MAX;
    }

    void beginRound() {
        moreToOpen = false;
    }

    /** Whether periods of further budgets can be opened at once. */
    boolean isMoreToOpen() {
        return moreToOpen;
    }

    /** Opens all periods of a budget that have begun: its terms are about to change. */
    void openAll(String budget, Instant now) {
        open(budget, carryOver -> true, now);
    }

    /**
     * Opens what is to be opened by now: of a few budgets at a time, since the periods of all may
     * begin at the same midnight and pods must not wait.
     */
    void open(Instant now) {
        if (now.isBefore(lastOpened)) {
            periods.takeBackFuture(now);
        }
        lastOpened = now;
        if (accounts.termsMissed()) {
            closeByMissedTerms(now);
            accounts.termsMissed(false);
        }
        Instant closed = now.minus(closesAfter);
        Predicate<CarryOver> isOver = it -> !it.period().start().isAfter(closed);
        List<String> over =
                accounts.begun().entrySet().stream()
                        .filter(it -> it.getValue().stream().anyMatch(isOver))
                        .map(Map.Entry::getKey)
                        .limit(MAX_OPENED + 1L)
                        .toList();
        over.stream().limit(MAX_OPENED).forEach(name -> open(name, isOver, now));
        moreToOpen = over.size() > MAX_OPENED;
    }

    /** What is written down for ever is computed from the rows of this moment, not from memory. */
    private void open(String budget, Predicate<CarryOver> which, Instant now) {
        Account account = accounts.get(budget);
        boolean any = begun(budget).stream().anyMatch(which);
        if (account == null || !any) {
            return;
        }
        accounts.replay(budget, account, now);
        List<CarryOver> all = begun(budget);
        all.stream().filter(which).forEach(it -> periods.open(budget, it));
        accounts.begun(budget, all.stream().filter(which.negate()).toList());
    }

    private List<CarryOver> begun(String budget) {
        return accounts.begun().getOrDefault(budget, List.of());
    }

    /**
     * Closes periods by their own terms if those were changed after their end and no leader saw it,
     * or while the budget was deleted.
     */
    private void closeByMissedTerms(Instant now) {
        for (String name : List.copyOf(accounts.begun().keySet())) {
            Account account = accounts.get(name);
            if (account != null) {
                accounts.isolated(name, account, now, () -> closeByMissedTerms(name, account, now));
            }
        }
        accounts.replay(now);
    }

    private void closeByMissedTerms(String name, Account account, Instant now) {
        List<CarryOver> missed = begun(name);
        List<Version> versions = missed.isEmpty() ? List.of() : terms.of(name);
        while (missed.stream().anyMatch(it -> !isOf(account, closedBy(versions, it)))) {
            Version own = closedBy(versions, missed.getFirst());
            List<CarryOver> closed =
                    own == null
                            ? accounts.replay(
                                    name, account, account.budget().periods(), account.terms(), now)
                            : accounts.replay(name, account, own.periods(), own.terms(), now);
            accounts.outdated(List.of(name));
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
}

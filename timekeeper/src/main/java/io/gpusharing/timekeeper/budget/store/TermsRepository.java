package io.gpusharing.timekeeper.budget.store;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.Terms;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/**
 * The terms that each budget has had, and since when. A change applies to the whole period in which
 * it is made, so the last terms seen in a period are the ones that count for it.
 */
@Repository
public class TermsRepository {

    private final ClusterDatabase database;
    private final Clock clock;
    private final Set<Seen> known = new HashSet<>();

    public TermsRepository(ClusterDatabase database, Clock clock) {
        this.database = database;
        this.clock = clock;
    }

    private record Seen(String budget, String uid, long generation) {

        static Seen of(Budget budget) {
            return new Seen(budget.name(), budget.uid(), budget.generation());
        }
    }

    /**
     * Terms as they were seen.
     *
     * @param writtenAt when that was written down, by the database's clock
     * @param terms null for an unlimited budget
     */
    public record Version(
            Instant seenAt,
            Instant writtenAt,
            long generation,
            PeriodRule periods,
            @Nullable Terms terms) {}

    /** Writes down what is new; in the ledger writer's thread. */
    public void note(Collection<Budget> budgets) {
        List<Budget> unseen =
                budgets.stream().filter(budget -> !known.contains(Seen.of(budget))).toList();
        write(unseen);
        unseen.forEach(budget -> known.add(Seen.of(budget)));
    }

    private void write(List<Budget> budgets) {
        database.sql(
                        """
                        insert into budget_terms (cluster, seen_at, budget, uid, generation, edited_at, allowance, max_rollover,
                            max_debt_percent, period_unit, period_zone, period_anchor)
                        select :cluster, :seen::timestamptz, budget, uid, generation, edited::timestamptz,
                            case when limited then allowance end, rollover, debt, unit, zone, anchor
                        from unnest(:budget::text[], :uid::text[], :generation::bigint[], :edited::text[], :limited::boolean[],
                            :allowance::bigint[], :rollover::bigint[], :debt::integer[],
                            :unit::text[], :zone::text[], :anchor::text[])
                            as u(budget, uid, generation, edited, limited, allowance, rollover, debt, unit, zone, anchor)
                        on conflict (cluster, budget, uid, generation) do nothing
                        """)
                .param("seen", clock.instant())
                .rows(budgets)
                .text("budget", Budget::name)
                .text("uid", Budget::uid)
                .number("generation", Budget::generation)
                .instant("edited", Budget::lastEdit)
                .flag("limited", budget -> budget.spec().terms().isPresent())
                .number("allowance", budget -> amount(budget, Terms::allowance))
                .number("rollover", budget -> amount(budget, Terms::maxRollover))
                .number(
                        "debt",
                        budget -> budget.spec().terms().map(Terms::maxDebtPercent).orElse(0))
                .text("unit", budget -> budget.spec().period().unit().name())
                .text("zone", budget -> budget.spec().period().timeZone())
                .text("anchor", budget -> budget.spec().period().anchor())
                .update();
    }

    private static long amount(Budget budget, Function<Terms, GpuTime> of) {
        return budget.spec().terms().map(of).orElse(GpuTime.ZERO).microGpuSeconds();
    }

    /**
     * All terms of a budget in the order in which they were written down: what a clock that ran
     * ahead dated later than what came after it does not come last.
     */
    public List<Version> of(String budget) {
        return database.sql(
                        """
                        select * from budget_terms where cluster = :cluster and budget = :budget
                        order by written_at, seen_at, generation
                        """)
                .param("budget", budget)
                .query((row, number) -> version(row))
                .list();
    }

    /** The last that were seen before an instant, of all in their order; null if none were. */
    public static @Nullable Version lastBefore(List<Version> all, Instant instant) {
        Version last = null;
        for (Version version : all) {
            last = version.seenAt().isBefore(instant) ? version : last;
        }
        return last;
    }

    private static Version version(ResultSet row) throws SQLException {
        long allowance = row.getLong("allowance");
        boolean unlimited = row.wasNull();
        var periods =
                new PeriodRule(
                        Unit.valueOf(row.getString("period_unit")),
                        ZoneId.of(row.getString("period_zone")),
                        LocalDateTime.parse(row.getString("period_anchor")));
        return new Version(
                Timestamps.instant(row, "seen_at"),
                Timestamps.instant(row, "written_at"),
                row.getLong("generation"),
                periods,
                unlimited
                        ? null
                        : new Terms(
                                periods,
                                new GpuTime(allowance),
                                new GpuTime(row.getLong("max_rollover")),
                                row.getInt("max_debt_percent")));
    }
}

package io.gpusharing.timekeeper.budget.store;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.CarryOver;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.stereotype.Repository;

/** The periods that were opened, each with what it took over. */
@Repository
public class PeriodRepository {

    private static final String PERIODS =
            """
            select *,
                   array(select grant_uid from grant_carried
                          where cluster = p.cluster and budget = p.budget and period_start = p.period_start
                          order by grant_uid) as grants,
                   array(select remaining from grant_carried
                          where cluster = p.cluster and budget = p.budget and period_start = p.period_start
                          order by grant_uid) as remaining
              from budget_period p
            """;

    private final ClusterDatabase database;

    public PeriodRepository(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * The last period that was opened for a budget and has begun; its first one is opened now. One
     * that a clock has opened too early, because it was ahead, does not count.
     */
    public CarryOver latest(Budget budget, Instant now) {
        return find(budget.name(), now)
                .orElseGet(() -> {
                    open(budget.name(), first(budget));
                    return find(budget.name(), now).orElseThrow();
                });
    }

    private static CarryOver first(Budget budget) {
        return new CarryOver(
                budget.firstPeriod(),
                budget.countedFrom(),
                GpuTime.ZERO,
                GpuTime.ZERO,
                GpuTime.ZERO,
                Map.of(),
                Instant.MAX);
    }

    /**
     * Opens the next period; a second time changes nothing. It is one statement, so that no crash
     * leaves a period in which grants are whole again that were used before.
     */
    public void open(String budget, CarryOver carryOver) {
        database.sql(
                        """
                        with opened as (
                            insert into budget_period (cluster, budget, period_start, period_end, counted_from,
                                rolled_over, debt, written_off)
                            values (:cluster, :budget, :start::timestamptz, :end::timestamptz, :from::timestamptz,
                                :rolled, :debt, :written)
                            on conflict do nothing
                            returning cluster, budget, period_start)
                        insert into grant_carried (cluster, budget, period_start, grant_uid, remaining)
                        select opened.*, carried.* from opened, unnest(:uids::text[], :remaining::bigint[]) as carried
                        """)
                .param("budget", budget)
                .param("start", carryOver.period().start())
                .param("end", carryOver.period().end())
                .param("from", carryOver.countedFrom())
                .param("rolled", carryOver.rolledOver().microGpuSeconds())
                .param("debt", carryOver.debt().microGpuSeconds())
                .param("written", carryOver.writtenOff().microGpuSeconds())
                .rows(List.copyOf(carryOver.carried().entrySet()))
                .text("uids", Map.Entry::getKey)
                .number("remaining", grant -> grant.getValue().microGpuSeconds())
                .statement()
                .update();
    }

    /**
     * Takes back what a clock that was ahead has opened and announced of periods that are still to
     * begin. Each is opened again when it has begun: what it takes over would be what was used up
     * to that moment, and everything posted since would count in it as late usage.
     */
    public void takeBackFuture(Instant now) {
        // The database's clock has to agree: one of ours that is behind takes nothing back.
        database.sql(
                        """
                        with opened as (
                            delete from budget_period
                            where cluster = :cluster and period_start > greatest(:now::timestamptz, now())),
                        carried as (
                            delete from grant_carried
                            where cluster = :cluster and period_start > greatest(:now::timestamptz, now()))
                        delete from budget_notification
                        where cluster = :cluster and period_start > greatest(:now::timestamptz, now())
                        """)
                .param("now", now)
                .update();
    }

    private Optional<CarryOver> find(String budget, Instant now) {
        return database.sql(
                        PERIODS
                                + """
                                where cluster = :cluster and budget = :budget
                                order by counted_from > :now::timestamptz, period_start desc limit 1
                                """)
                .param("budget", budget)
                .param("now", now)
                .query((row, number) -> carryOver(row))
                .optional();
    }

    /**
     * The periods that were opened up to an instant, from the one on that holds another, and the
     * one after them, which says until when theirs could change; oldest first. If the first of all
     * began later than {@code from}, it is that one.
     */
    public List<CarryOver> carryOvers(String budget, Instant from, Instant to) {
        return database.sql(
                        PERIODS
                                + """
                                where cluster = :cluster and budget = :budget
                                  and counted_from <= coalesce((
                                      select min(counted_from) from budget_period
                                      where cluster = :cluster and budget = :budget
                                        and counted_from > :to::timestamptz), 'infinity')
                                  and counted_from >= coalesce((
                                      select max(counted_from) from budget_period
                                      where cluster = :cluster and budget = :budget
                                        and counted_from <= :from::timestamptz), '-infinity')
                                order by period_start
                                """)
                .param("budget", budget)
                .param("from", from)
                .param("to", to)
                .query((row, number) -> carryOver(row))
                .list();
    }

    /** All periods of all budgets, oldest first. */
    public Map<String, List<CarryOver>> all() {
        var all = new TreeMap<String, List<CarryOver>>();
        database.sql(PERIODS + " where cluster = :cluster order by budget, period_start")
                .query(row -> {
                    all.computeIfAbsent(row.getString("budget"), name -> new ArrayList<>())
                            .add(carryOver(row));
                });
        return all;
    }

    private static CarryOver carryOver(ResultSet row) throws SQLException {
        return new CarryOver(
                new Period(
                        Timestamps.instant(row, "period_start"),
                        Timestamps.instantOrNull(row, "period_end")),
                Timestamps.instant(row, "counted_from"),
                new GpuTime(row.getLong("rolled_over")),
                new GpuTime(row.getLong("debt")),
                new GpuTime(row.getLong("written_off")),
                carried(row),
                Timestamps.instant(row, "opened_at"));
    }

    private static Map<String, GpuTime> carried(ResultSet row) throws SQLException {
        var carried = new HashMap<String, GpuTime>();
        String[] grants = (String[]) row.getArray("grants").getArray();
        Long[] remaining = (Long[]) row.getArray("remaining").getArray();
        for (int i = 0; i < grants.length; i++) {
            carried.put(grants[i], new GpuTime(remaining[i]));
        }
        return carried;
    }
}

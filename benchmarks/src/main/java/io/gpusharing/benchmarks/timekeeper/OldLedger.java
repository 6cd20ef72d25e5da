package io.gpusharing.benchmarks.timekeeper;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;

/**
 * Thirteen months of charges, made in the database itself. Each team holds its GPUs around the
 * clock by pods that live for a day: an entry an hour, written in the order in which the timekeeper
 * writes them.
 *
 * @param teams how many hold {@code pods} GPUs each
 * @param pods how many of a team run at any time
 */
record OldLedger(int teams, int pods) {

    static final int MONTHS = 13;

    /** A team so much larger than the others, if it is made at all. */
    static final String LARGE = "team-1";

    static final int LARGE_PODS = 100;

    static YearMonth first() {
        return YearMonth.now(ZoneOffset.UTC).minusMonths(MONTHS);
    }

    static Instant begin(YearMonth month) {
        return month.atDay(1).atStartOfDay(ZoneOffset.UTC).toInstant();
    }

    /** Makes its rows, if they are not there. The first two teams' periods are opened for them. */
    void make(Subject subject) throws SQLException {
        try (Connection connection = subject.database();
                Statement sql = connection.createStatement()) {
            // Durability is for what is measured; this can be made again.
            sql.execute("set synchronous_commit = off");
            sql.execute("set work_mem = '256MB'");
            // A month is there as a whole or not at all, so that what was cut short is gone on
            // with.
            connection.setAutoCommit(false);
            boolean made = false;
            for (int i = 0; i < MONTHS; i++) {
                made |= month(sql, first().plusMonths(i));
                connection.commit();
            }
            connection.setAutoCommit(true);
            sql.execute(
                    "update budget_terms set seen_at = '%s'"
                            .formatted(begin(first().minusMonths(1))));
            if (made) {
                sql.execute("vacuum analyze");
                sql.execute("checkpoint");
            }
        }
    }

    /** Returns whether there was anything to make. */
    private boolean month(Statement sql, YearMonth month) throws SQLException {
        Instant begin = begin(month);
        Instant end = begin(month.plusMonths(1));
        String partition = "charge_m" + month.toString().replace("-", "");
        sql.execute(
                "create table if not exists %s partition of charge for values from ('%s') to ('%s')"
                        .formatted(partition, begin, end));
        try (var there = sql.executeQuery("select exists (select from %s)".formatted(partition))) {
            there.next();
            if (there.getBoolean(1)) {
                return false;
            }
        }
        sql.execute(
                """
                create temporary table holder as
                select 'team-' || team as team, pod, day, md5(team || '-' || pod || '-' || day)::uuid as uid
                from generate_series('%1$s'::timestamptz, '%2$s'::timestamptz - interval '1 day', '1 day') day,
                     generate_series(0, %3$d - 1) team,
                     lateral generate_series(1, case when 'team-' || team = '%5$s' then %6$d else %4$d end) pod
                """
                        .formatted(
                                begin, end, teams, pods, LARGE, teams > 100 ? LARGE_PODS : pods));
        sql.execute(
                """
                insert into pod_allocation (cluster, pod_uid, namespace, name, owner_kind, owner_name, node, budget, rate, share_rate,
                    compute_part, memory_part, compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            share_known, held_from, posted_until, charged_until, held_until)
                select 'default', uid, team, 'train-' || pod, 'Job', 'train', 'node-' || pod, team, 500000, 500000,
                    500000, 250000, 1, 2, 1, 4, true, day, day + interval '1 day', day + interval '1 day', day + interval '1 day'
                from holder
                """);
        sql.execute(
                """
                insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount, posted_at)
                select 'default', uid, hour, hour + interval '1 hour', team, team, 500000, 1800000000, hour + interval '61 minutes'
                from holder, lateral generate_series(day, day + interval '23 hours', '1 hour') hour order by hour, team, uid
                """);
        sql.execute(
                """
                insert into usage_hour (cluster, budget, namespace, hour, amount)
                select 'default', team, team, hour, 1800000000 * count(*)
                from holder, lateral generate_series(day, day + interval '23 hours', '1 hour') hour group by team, hour
                """);
        sql.execute(
                """
                insert into budget_period (cluster, budget, period_start, period_end, counted_from, opened_at)
                select 'default', team, '%1$s', '%2$s', '%1$s', '%1$s' from unnest(array['team-0', 'team-1']) team
                on conflict (cluster, budget, period_start) do update set opened_at = excluded.opened_at
                """
                        .formatted(begin, end));
        sql.execute("drop table holder");
        return true;
    }
}

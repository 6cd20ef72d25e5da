package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.Period;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The periods that were opened. */
@Repository
class Periods {

    private final JdbcClient jdbc;
    private final String cluster;

    Periods(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /** A period with the first instant of it that counts. */
    record Opened(Period period, Instant countedFrom) {}

    /** The first period that was opened for a budget, opening it if there is none. */
    Opened firstOf(Budget budget) {
        Period period = budget.periods().at(budget.created());
        jdbc.sql(
                        """
                        insert into budget_period (cluster, budget, period_start, period_end, counted_from)
                        select :cluster, :budget, :start::timestamptz, :end::timestamptz, :from::timestamptz
                        where not exists (select from budget_period where cluster = :cluster and budget = :budget)
                        """)
                .param("cluster", cluster)
                .param("budget", budget.name())
                .param("start", period.start().toString())
                .param("end", Optional.ofNullable(period.end()).map(Instant::toString).orElse(null))
                .param("from", budget.created().toString())
                .update();
        return jdbc.sql(
                        """
                        select period_start, period_end, counted_from from budget_period
                        where cluster = :cluster and budget = :budget order by period_start limit 1
                        """)
                .param("cluster", cluster)
                .param("budget", budget.name())
                .query((row, number) -> {
                    OffsetDateTime end = row.getObject(2, OffsetDateTime.class);
                    return new Opened(
                            new Period(
                                    row.getObject(1, OffsetDateTime.class).toInstant(),
                                    end == null ? null : end.toInstant()),
                            row.getObject(3, OffsetDateTime.class).toInstant());
                })
                .single();
    }
}

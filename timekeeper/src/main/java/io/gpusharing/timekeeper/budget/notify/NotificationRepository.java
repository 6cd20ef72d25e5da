package io.gpusharing.timekeeper.budget.notify;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.database.Timestamps;
import java.time.Instant;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Announcements that were made or are to be made. The row is written before the Event, so none is
 * lost.
 */
@Repository
class NotificationRepository {

    private final JdbcClient jdbc;
    private final String cluster;

    NotificationRepository(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /** Notes what has become true; once for each period, kind and granted amount. */
    void note(BudgetNotification what) {
        jdbc.sql(
                        """
                        insert into budget_notification (cluster, budget, period_start, kind, granted, due_at, message)
                        values (:cluster, :budget, :period::timestamptz, :kind, :granted, :due::timestamptz, :message)
                        on conflict do nothing
                        """)
                .param("cluster", cluster)
                .param("budget", what.budget())
                .param("period", what.periodStart().toString())
                .param("kind", what.kind())
                .param("granted", what.granted().microGpuSeconds())
                .param("due", what.due().toString())
                .param("message", what.message())
                .update();
    }

    /** What was noted and not told, oldest first. Its uid is not known here. */
    List<BudgetNotification> untold() {
        return jdbc.sql(
                        """
                        select budget, period_start, kind, granted, due_at, message from budget_notification
                        where cluster = :cluster and sent_at is null order by due_at
                        """)
                .param("cluster", cluster)
                .query((row, number) ->
                        new BudgetNotification(
                                row.getString("budget"),
                                "",
                                Timestamps.instant(row, "period_start"),
                                row.getString("kind"),
                                new GpuTime(row.getLong("granted")),
                                Timestamps.instant(row, "due_at"),
                                row.getString("message")))
                .list();
    }

    void sent(BudgetNotification what, Instant now) {
        jdbc.sql(
                        """
                        update budget_notification set sent_at = :now::timestamptz
                        where cluster = :cluster and budget = :budget and period_start = :period::timestamptz
                          and kind = :kind and granted = :granted
                        """)
                .param("cluster", cluster)
                .param("budget", what.budget())
                .param("period", what.periodStart().toString())
                .param("kind", what.kind())
                .param("granted", what.granted().microGpuSeconds())
                .param("now", now.toString())
                .update();
    }
}

package io.gpusharing.timekeeper.budget.notify;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.time.Instant;
import java.util.List;
import org.springframework.stereotype.Repository;

/**
 * Announcements that were made or are to be made. The row is written before the Event, so none is
 * lost.
 */
@Repository
class NotificationRepository {

    private final ClusterDatabase database;

    NotificationRepository(ClusterDatabase database) {
        this.database = database;
    }

    /** Notes what has become true; once for each period, kind and granted amount. */
    void note(BudgetNotification what) {
        database.sql(
                        """
                        insert into budget_notification (cluster, budget, period_start, kind, granted, due_at, message)
                        values (:cluster, :budget, :period::timestamptz, :kind, :granted, :due::timestamptz, :message)
                        on conflict do nothing
                        """)
                .param("budget", what.budget())
                .param("period", what.periodStart())
                .param("kind", what.kind())
                .param("granted", what.granted().microGpuSeconds())
                .param("due", what.due())
                .param("message", what.message())
                .update();
    }

    /** What was noted and not sent, oldest first. */
    List<BudgetNotification> untold() {
        return database.sql(
                        """
                        select budget, period_start, kind, granted, due_at, message from budget_notification
                        where cluster = :cluster and sent_at is null order by due_at
                        """)
                .query((row, number) ->
                        new BudgetNotification(
                                row.getString("budget"),
                                Timestamps.instant(row, "period_start"),
                                row.getString("kind"),
                                new GpuTime(row.getLong("granted")),
                                Timestamps.instant(row, "due_at"),
                                row.getString("message")))
                .list();
    }

    void sent(BudgetNotification what, Instant now) {
        database.sql(
                        """
                        update budget_notification set sent_at = :now::timestamptz
                        where cluster = :cluster and budget = :budget and period_start = :period::timestamptz
                          and kind = :kind and granted = :granted
                        """)
                .param("budget", what.budget())
                .param("period", what.periodStart())
                .param("kind", what.kind())
                .param("granted", what.granted().microGpuSeconds())
                .param("now", now)
                .update();
    }
}

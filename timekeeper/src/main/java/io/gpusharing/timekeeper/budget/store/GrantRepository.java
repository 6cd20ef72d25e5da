package io.gpusharing.timekeeper.budget.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/**
 * The grants, as they were written down when their objects were first seen. They outlive the
 * objects: a deleted grant has an end.
 */
@Repository
public class GrantRepository {

    private final ClusterDatabase database;

    public GrantRepository(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * A grant as it was written down.
     *
     * @param amount micro-GPU-seconds
     * @param author absent if its object did not say
     * @param expires absent for the end of the period
     * @param ended when its object was deleted; absent while it stands
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Written(
            String uid,
            String name,
            String budget,
            long amount,
            String amountMinutes,
            String reason,
            @Nullable String author,
            Instant from,
            @Nullable Instant expires,
            @Nullable Instant ended) {}

    /** A budget's grants by uid, those that have ended included. */
    public List<Written> of(String budget, @Nullable String after, int size) {
        return database.sql(
                        """
                        select * from budget_grant
                        where cluster = :cluster and budget = :budget and uid > coalesce(:after::text, '')
                        order by uid limit :size
                        """)
                .param("budget", budget)
                .param("after", after)
                .param("size", size)
                .query((row, number) -> written(row))
                .list();
    }

    /** The last grant of that name. */
    public Optional<Written> named(String name) {
        return database.sql(
                        """
                        select * from budget_grant where cluster = :cluster and name = :name
                        order by valid_from desc limit 1
                        """)
                .param("name", name)
                .query((row, number) -> written(row))
                .optional();
    }

    /**
     * Writes a grant down; one that is there stays as it is, but for an end that it has not had:
     * the one who wrote that did not know of it yet, for instance because its watch lagged behind
     * the last leader's.
     */
    public void write(Grant grant) {
        database.sql(
                        """
                        insert into budget_grant (cluster, uid, name, budget, amount, reason, author,
                            valid_from, expires)
                        values (:cluster, :uid, :name, :budget, :amount, :reason, :author,
                            :from::timestamptz, :expires::timestamptz)
                        on conflict (cluster, uid) do update set ended = null, end_written_at = null
                        where budget_grant.ended is not null
                        """)
                .param("uid", grant.uid())
                .param("name", grant.name())
                .param("budget", grant.budget())
                .param("amount", grant.amount().microGpuSeconds())
                .param("reason", grant.reason())
                .param("author", grant.author())
                .param("from", grant.from())
                .param("expires", grant.expires())
                .update();
    }

    /**
     * Grants whose objects are there have not ended; those whose objects are not there any more end
     * now.
     *
     * @return the budgets of those that were reopened, because somebody else did not know of them
     *     yet, and of those that have ended
     */
    public Set<String> stand(Collection<String> present, Instant now) {
        return database.sql(
                        """
                        with stands as (
                            update budget_grant set ended = null, end_written_at = null
                            where cluster = :cluster and ended is not null and uid = any(:present)
                            returning budget),
                        gone as (
                            update budget_grant set ended = :now::timestamptz, end_written_at = now()
                            where cluster = :cluster and ended is null and not (uid = any(:present))
                            returning budget)
                        select budget from stands union select budget from gone
                        """)
                .param("present", present.toArray(String[]::new))
                .param("now", now)
                .query((row, number) -> row.getString("budget"))
                .set();
    }

    /** All grants of a budget that count at or after an instant. */
    public List<Grant> countingSince(String budget, Instant from) {
        return counting(budget, from, OffsetDateTime.MAX);
    }

    /** The same, as it was written down at an instant of the database. */
    public List<Grant> knownAt(Instant known, String budget, Instant from) {
        return counting(budget, from, Timestamps.parameter(known));
    }

    private List<Grant> counting(String budget, Instant from, OffsetDateTime known) {
        return database.sql(
                        """
                        select * from (
                            select uid, name, budget, amount, reason, author, valid_from, expires,
                                   case when end_written_at <= :known::timestamptz then ended end as ended
                              from budget_grant
                             where cluster = :cluster and budget = :budget and written_at <= :known::timestamptz) known
                        where (expires is null or expires > :from::timestamptz)
                          and (ended is null or ended > :from::timestamptz)
                        order by valid_from, name
                        """)
                .param("budget", budget)
                .param("from", from)
                .param("known", known)
                .query((row, number) ->
                        new Grant(
                                row.getString("uid"),
                                row.getString("name"),
                                row.getString("budget"),
                                new GpuTime(row.getLong("amount")),
                                row.getString("reason"),
                                row.getString("author"),
                                Timestamps.instant(row, "valid_from"),
                                Timestamps.instantOrNull(row, "expires"),
                                Timestamps.instantOrNull(row, "ended")))
                .list();
    }

    private static Written written(ResultSet row) throws SQLException {
        GpuTime amount = new GpuTime(row.getLong("amount"));
        return new Written(
                row.getString("uid"),
                row.getString("name"),
                row.getString("budget"),
                amount.microGpuSeconds(),
                amount.minutes(),
                row.getString("reason"),
                row.getString("author"),
                Timestamps.instant(row, "valid_from"),
                Timestamps.instantOrNull(row, "expires"),
                Timestamps.instantOrNull(row, "ended"));
    }
}

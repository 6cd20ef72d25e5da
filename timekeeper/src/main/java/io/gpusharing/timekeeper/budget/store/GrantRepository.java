package io.gpusharing.timekeeper.budget.store;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
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

    /** A budget's grants by uid, those that have ended included. */
    public List<Grant> of(String budget, @Nullable String after, int size) {
        return database.sql(
                        """
                        select * from budget_grant
                        where cluster = :cluster and budget = :budget and uid > coalesce(:after::text, '')
                        order by uid limit :size
                        """)
                .param("budget", budget)
                .param("after", after)
                .param("size", size)
                .query(GrantRepository::grant)
                .list();
    }

    /** Whether there was ever a grant of that name. */
    public boolean isKnown(String name) {
        return database.sql(
                        "select exists(select from budget_grant where cluster = :cluster and name = :name)")
                .param("name", name)
                .query((row, number) -> row.getBoolean(1))
                .single();
    }

    /** Writes grants down; those that are there stay as they are. */
    public void write(List<Grant> grants) {
        database.sql(
                        """
                        insert into budget_grant (cluster, uid, name, budget, amount, reason, author,
                            valid_from, expires)
                        select :cluster, * from unnest(:uid::text[], :name::text[], :budget::text[], :amount::bigint[],
                            :reason::text[], :author::text[], :from::timestamptz[], :expires::timestamptz[])
                        on conflict (cluster, uid) do nothing
                        """)
                .rows(grants)
                .text("uid", Grant::uid)
                .text("name", Grant::name)
                .text("budget", Grant::budget)
                .number("amount", grant -> grant.amount().microGpuSeconds())
                .text("reason", Grant::reason)
                .text("author", Grant::author)
                .instant("from", Grant::from)
                .instant("expires", Grant::expires)
                .update();
    }

    /**
     * Grants whose objects are there have not ended: the one who wrote that did not know of them
     * yet, for instance because its watch lagged behind the last leader's. Those whose objects are
     * not there any more end now.
     *
     * @return the budgets of those that go on after all, and of those that have ended
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
                .texts("present", present)
                .param("now", now)
                .query((row, number) -> row.getString("budget"))
                .set();
    }

    /** All grants of a budget that count at or after an instant. */
    public List<Grant> countingSince(String budget, Instant from) {
        return knownAt(Instant.MAX, budget, from);
    }

    /** The same, as it was written down at an instant of the database. */
    public List<Grant> knownAt(Instant known, String budget, Instant from) {
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
                .query(GrantRepository::grant)
                .list();
    }

    private static Grant grant(ResultSet row, int number) throws SQLException {
        return new Grant(
                row.getString("uid"),
                row.getString("name"),
                row.getString("budget"),
                new GpuTime(row.getLong("amount")),
                row.getString("reason"),
                row.getString("author"),
                Timestamps.instant(row, "valid_from"),
                Timestamps.instantOrNull(row, "expires"),
                Timestamps.instantOrNull(row, "ended"));
    }
}

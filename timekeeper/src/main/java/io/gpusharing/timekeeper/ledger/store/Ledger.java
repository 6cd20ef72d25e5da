package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.Posting.Read;
import io.gpusharing.timekeeper.ledger.Unwatched;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionTemplate;

/** The ledger's tables. Every posting is one transaction; nothing that was charged is updated. */
@Repository
public class Ledger {

    private final ClusterDatabase database;
    private final TransactionTemplate transaction;
    private final PostingRows rows;
    private volatile Instant keptSince = Instant.MIN;

    public Ledger(ClusterDatabase database, TransactionTemplate transaction) {
        this.database = database;
        this.transaction = transaction;
        this.rows = new PostingRows(database);
    }

    /**
     * What is known of the cluster itself.
     *
     * @param meteringStart when the ledger was opened first
     * @param position how far the pods' feed came; null at the very first start
     * @param seenUntil when the API server last reported anything
     * @param reportedUntil up to when it has reported everything that happened to pods
     * @param sweptUntil when a sweep last listed all pods; null if none has
     */
    public record State(
            Instant meteringStart,
            @Nullable String position,
            @Nullable Instant seenUntil,
            @Nullable Instant reportedUntil,
            @Nullable Instant sweptUntil) {}

    /** Reads the state; at the very first start metering begins {@code now}. */
    public State open(Instant now) {
        database.sql(
                        """
                        insert into cluster (id, metering_start) values (:cluster, :now::timestamptz)
                        on conflict (id) do nothing
                        """)
                .param("now", now)
                .update();
        keptSince();
        return database.sql(
                        "select metering_start, pod_position, seen_until, reported_until, swept_until from cluster where id = :cluster")
                .query((row, number) ->
                        new State(
                                Timestamps.instant(row, "metering_start"),
                                row.getString("pod_position"),
                                Timestamps.instantOrNull(row, "seen_until"),
                                Timestamps.instantOrNull(row, "reported_until"),
                                Timestamps.instantOrNull(row, "swept_until")))
                .single();
    }

    /**
     * The first instant of which all charges are kept; empty if none was ever dropped. Pods that
     * had ended before may be known no more, so whoever deletes them asks first: from then on they
     * are not charged again, should the API server still report them.
     */
    Optional<Instant> keptSince() {
        Optional<Instant> since =
                database.sql("select since from charge_kept")
                        .query((row, number) -> Timestamps.instant(row, "since"))
                        .optional();
        since.ifPresent(it -> keptSince = it);
        return since;
    }

    /** Nothing before is charged: when metering began, or what retention has left of that. */
    public Instant chargedFrom(State state) {
        Instant kept = keptSince;
        return kept.isAfter(state.meteringStart()) ? kept : state.meteringStart();
    }

    /** All allocations that have not ended. */
    public List<PodAllocation> openAllocations() {
        return database.sql(
                        "select * from pod_allocation where cluster = :cluster and held_until is null")
                .query(Rows::allocation)
                .list();
    }

    /** The allocations of these pods and claims, as far as there are any. */
    public List<PodAllocation> allocations(Collection<UUID> uids) {
        return database.sql(
                        "select * from pod_allocation where cluster = :cluster and pod_uid = any(:uids)")
                .uuids("uids", uids)
                .query(Rows::allocation)
                .list();
    }

    /**
     * Of these allocations, and of all that any of these pods held, the pods that hold them or did.
     */
    public List<Holder> holders(Collection<UUID> uids) {
        return database.sql(
                        """
                        select allocation, pod_uid from claim_holder where cluster = :cluster and allocation in
                            (select unnest(:uids)
                             union
                             select allocation from claim_holder where cluster = :cluster and pod_uid = any(:uids))
                        """)
                .uuids("uids", uids)
                .query(Rows::holder)
                .list();
    }

    /** Entries and corrections of a pod that reach beyond an instant, oldest first. */
    public List<Entry> entriesBeyond(UUID pod, Instant instant) {
        return database.sql(
                        """
                        select pod_uid, namespace, budget, charged_from, charged_to, rate from charge
                        where cluster = :cluster and pod_uid = :pod and charged_to > :at::timestamptz
                        union all
                        select pod_uid, namespace, budget, charged_from, charged_to, rate from correction
                        where cluster = :cluster and pod_uid = :pod and charged_to > :at::timestamptz
                        order by charged_from
                        """)
                .param("pod", pod)
                .param("at", instant)
                .query(Rows::entry)
                .list();
    }

    /** Allocations charged by measured use that ended after an instant. */
    public List<PodAllocation> endedByUse(Instant after) {
        return database.sql(
                        """
                        select * from pod_allocation where cluster = :cluster and use_since is not null
                          and held_until > :after::timestamptz
                        """)
                .param("after", after)
                .query(Rows::allocation)
                .list();
    }

    /**
     * What we ourselves have charged each of these pods since it is charged by measured use;
     * corrections that people made stand beside that.
     */
    public Map<UUID, GpuTime> chargedByUse(Collection<UUID> pods) {
        var charged = new HashMap<UUID, GpuTime>();
        database.sql(
                        """
                        select s.pod_uid, sum(e.amount)::bigint as amount from pod_allocation s join
                          (select cluster, pod_uid, charged_from, amount from charge
                           union all
                           select cluster, pod_uid, charged_from, amount from correction where not by_hand) e
                          using (cluster, pod_uid)
                        where s.cluster = :cluster and s.pod_uid = any(:pods) and e.charged_from >= s.use_since
                        group by s.pod_uid
                        """)
                .uuids("pods", pods)
                .query(row -> {
                    charged.put(
                            row.getObject("pod_uid", UUID.class),
                            new GpuTime(row.getLong("amount")));
                });
        return charged;
    }

    /**
     * Writes a posting, all of it or nothing.
     *
     * @throws OutOfStepException if the rows are not what the posting was drawn up from
     */
    public void post(Posting posting) {
        transaction.executeWithoutResult(status -> {
            rows.allocate(posting);
            demandThatAllWasRead(posting.read());
            rows.charge(posting);
            advance(posting.position());
        });
    }

    /**
     * People correct without changing an allocation: what they wrote after a leader fell asleep
     * over an end would not be taken back. Nobody writes more of these pods while we hold their
     * allocations.
     */
    private void demandThatAllWasRead(List<Read> read) {
        if (read.isEmpty()) {
            return;
        }
        int grown =
                database.sql(
                                """
                                select count(*) from unnest(:pod::uuid[], :beyond::timestamptz[], :entries::bigint[])
                                    as r(pod_uid, beyond, entries)
                                where r.entries <>
                                    (select count(*) from charge c where c.cluster = :cluster
                                        and c.pod_uid = r.pod_uid and c.charged_to > r.beyond)
                                  + (select count(*) from correction c where c.cluster = :cluster
                                        and c.pod_uid = r.pod_uid and c.charged_to > r.beyond)
                                """)
                        .rows(read)
                        .uuid("pod", Read::pod)
                        .instant("beyond", Read::beyond)
                        .number("entries", Read::entries)
                        .statement()
                        .query(Integer.class)
                        .single();
        if (grown > 0) {
            throw new OutOfStepException(grown);
        }
    }

    private void advance(FeedPosition feed) {
        if (feed.equals(FeedPosition.NOTHING)) {
            return;
        }
        database.sql(
                        """
                        update cluster set pod_position = coalesce(:position::text, pod_position),
                            seen_until = greatest(seen_until, :seen::timestamptz),
                            reported_until = coalesce(:reported::timestamptz, reported_until),
                            swept_until = coalesce(:swept::timestamptz, swept_until)
                        where id = :cluster
                        """)
                .param("position", feed.position())
                .param("seen", feed.seen())
                .param("reported", feed.reported())
                .param("swept", feed.swept())
                .update();
        // Two lists in one second begin two spans at once; the longer says all.
        database.sql(
                        """
                        insert into unwatched (cluster, since, until)
                        select :cluster, since, max(until)
                        from unnest(:since::timestamptz[], :until::timestamptz[]) as u(since, until) group by since
                        on conflict (cluster, since) do update set until = greatest(unwatched.until, excluded.until)
                        """)
                .rows(feed.unwatched())
                .instant("since", Unwatched::since)
                .instant("until", Unwatched::until)
                .update();
    }
}

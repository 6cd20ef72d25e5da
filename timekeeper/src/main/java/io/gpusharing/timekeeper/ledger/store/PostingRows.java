package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.Posting.Read;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a posting into its tables. Rows are written in one order by everybody, so that no two
 * transactions wait for each other.
 */
final class PostingRows {

    private static final Comparator<Entry> BY_BUDGET =
            Comparator.comparing(Entry::budget)
                    .thenComparing(Entry::from)
                    .thenComparing(Entry::pod);

    private final ClusterDatabase database;
    private final AllocationRows allocations;

    PostingRows(ClusterDatabase database) {
        this.database = database;
        this.allocations = new AllocationRows(database);
    }

    /**
     * Writes all of a posting, in the caller's transaction.
     *
     * @throws OutOfStepException if the rows are not what the posting was drawn up from
     */
    void write(Posting posting) {
        allocations.write(posting.changes());
        hold(posting.holders());
        demandThatAllWasRead(posting.read());
        charge(posting.charges());
        correct(posting.corrections());
        addToHours(posting);
        advance(posting.position());
    }

    private void hold(List<Holder> holders) {
        database.sql(
                        """
                        insert into claim_holder (cluster, allocation, pod_uid)
                        select :cluster, * from unnest(:claim::uuid[], :pod::uuid[])
                        """)
                .rows(holders)
                .uuid("claim", Holder::claim)
                .uuid("pod", Holder::pod)
                .update();
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

    private void charge(List<Entry> charges) {
        // An hour's entries of a budget lie together, so that a statement reads few blocks however
        // many other budgets there are.
        List<Entry> sorted = charges.stream().sorted(BY_BUDGET).toList();
        database.sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        select :cluster, * from unnest(:pod::uuid[], :from::timestamptz[], :to::timestamptz[],
                            :namespace::text[], :budget::text[], :rate::bigint[], :amount::bigint[])
                        """)
                .rows(sorted)
                .uuid("pod", Entry::pod)
                .instant("from", Entry::from)
                .instant("to", Entry::to)
                .text("namespace", Entry::namespace)
                .text("budget", Entry::budget)
                .number("rate", Entry::rate)
                .number("amount", entry -> entry.amount().microGpuSeconds())
                .update();
    }

    private void correct(List<Correction> corrections) {
        database.sql(
                        """
                        insert into correction (cluster, id, pod_uid, charged_from, charged_to, namespace, budget,
                            rate, amount, reason, author, by_hand)
                        select :cluster, * from unnest(:id::uuid[], :pod::uuid[],
                            :from::timestamptz[], :to::timestamptz[], :namespace::text[], :budget::text[],
                            :rate::bigint[], :amount::bigint[], :reason::text[], :author::text[], :hand::bool[])
                        """)
                .rows(corrections)
                .uuid("id", Correction::id)
                .uuid("pod", correction -> correction.entry().pod())
                .instant("from", correction -> correction.entry().from())
                .instant("to", correction -> correction.entry().to())
                .text("namespace", correction -> correction.entry().namespace())
                .text("budget", correction -> correction.entry().budget())
                .number("rate", correction -> correction.entry().rate())
                .number("amount", correction -> correction.entry().amount().microGpuSeconds())
                .text("reason", Correction::reason)
                .text("author", Correction::author)
                .flag("hand", Correction::byHand)
                .update();
    }

    private void addToHours(Posting posting) {
        var sums = new TreeMap<UsageHour, Long>(UsageHour.ORDER);
        posting.entries()
                .forEach(entry ->
                        sums.merge(
                                UsageHour.of(entry),
                                entry.amount().microGpuSeconds(),
                                Math::addExact));
        database.sql(
                        """
                        insert into usage_hour (cluster, budget, namespace, hour, amount)
                        select :cluster, * from unnest(:budget::text[], :namespace::text[], :hour::timestamptz[],
                            :amount::bigint[])
                        on conflict (cluster, budget, hour, namespace)
                        do update set amount = usage_hour.amount + excluded.amount
                        """)
                .rows(List.copyOf(sums.entrySet()))
                .text("budget", sum -> sum.getKey().budget())
                .text("namespace", sum -> sum.getKey().namespace())
                .instant("hour", sum -> sum.getKey().hour())
                .number("amount", Map.Entry::getValue)
                .update();
    }

    private void advance(FeedPosition feed) {
        if (feed.equals(FeedPosition.NOTHING)) {
            return;
        }
        database.sql(
                        """
                        update cluster set pod_position = coalesce(:position::text, pod_position),
                            seen_until = greatest(seen_until, :seen::timestamptz),
                            swept_until = coalesce(:swept::timestamptz, swept_until)
                        where id = :cluster
                        """)
                .param("position", feed.position())
                .param("seen", feed.seen())
                .param("swept", feed.swept())
                .update();
    }

    /** An hour's sum. */
    private record UsageHour(String budget, Instant hour, String namespace) {

        static final Comparator<UsageHour> ORDER =
                Comparator.comparing(UsageHour::budget)
                        .thenComparing(UsageHour::hour)
                        .thenComparing(UsageHour::namespace);

        static UsageHour of(Entry entry) {
            return new UsageHour(entry.budget(), entry.hour(), entry.namespace());
        }
    }
}

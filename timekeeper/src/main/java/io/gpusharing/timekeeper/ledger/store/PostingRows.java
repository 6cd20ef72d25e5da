package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.database.ArrayParameters;
import io.gpusharing.timekeeper.database.Timestamps;
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
import java.util.UUID;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Writes a posting into its tables. Rows are written in one order by everybody, so that no two
 * transactions wait for each other.
 */
final class PostingRows {

    private static final Comparator<Entry> BY_BUDGET =
            Comparator.comparing(Entry::budget)
                    .thenComparing(Entry::from)
                    .thenComparing(Entry::pod);

    private final JdbcClient jdbc;
    private final String cluster;
    private final AllocationRows allocations;

    PostingRows(JdbcClient jdbc, String cluster) {
        this.jdbc = jdbc;
        this.cluster = cluster;
        this.allocations = new AllocationRows(jdbc, cluster);
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
        advance(posting.heard());
    }

    private void hold(List<Holder> holders) {
        if (holders.isEmpty()) {
            return;
        }
        jdbc.sql(
                        """
                        insert into claim_holder (cluster, allocation, pod_uid)
                        select ?, * from unnest(?::uuid[], ?::uuid[])
                        """)
                .params(
                        ArrayParameters.of(holders)
                                .constant(cluster)
                                .uuid(Holder::claim)
                                .uuid(Holder::pod)
                                .parameters())
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
                jdbc.sql(
                                """
                                select count(*) from unnest(?::uuid[], ?::timestamptz[], ?::bigint[])
                                    as r(pod_uid, beyond, entries)
                                where r.entries <>
                                    (select count(*) from charge c where c.cluster = ?
                                        and c.pod_uid = r.pod_uid and c.charged_to > r.beyond)
                                  + (select count(*) from correction c where c.cluster = ?
                                        and c.pod_uid = r.pod_uid and c.charged_to > r.beyond)
                                """)
                        .params(
                                ArrayParameters.of(read)
                                        .uuid(Read::pod)
                                        .instant(Read::beyond)
                                        .number(Read::entries)
                                        .constant(cluster)
                                        .constant(cluster)
                                        .parameters())
                        .query(Integer.class)
                        .single();
        if (grown > 0) {
            throw new OutOfStepException(grown);
        }
    }

    private void charge(List<Entry> charges) {
        if (charges.isEmpty()) {
            return;
        }
        // An hour's entries of a budget lie together, so that a statement reads few blocks however
        // many other budgets there are.
        List<Entry> sorted = charges.stream().sorted(BY_BUDGET).toList();
        jdbc.sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        select ?, * from unnest(?::uuid[], ?::timestamptz[], ?::timestamptz[], ?::text[], ?::text[],
                            ?::bigint[], ?::bigint[])
                        """)
                .params(
                        ArrayParameters.of(sorted)
                                .constant(cluster)
                                .uuid(Entry::pod)
                                .instant(Entry::from)
                                .instant(Entry::to)
                                .text(Entry::namespace)
                                .text(Entry::budget)
                                .number(Entry::rate)
                                .number(entry -> entry.amount().microGpuSeconds())
                                .parameters())
                .update();
    }

    private void correct(List<Correction> corrections) {
        if (corrections.isEmpty()) {
            return;
        }
        jdbc.sql(
                        """
                        insert into correction (cluster, id, pod_uid, charged_from, charged_to, namespace, budget,
                            rate, amount, reason, author)
                        select ?, u.*, 'timekeeper' from unnest(?::uuid[], ?::uuid[], ?::timestamptz[],
                            ?::timestamptz[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::text[]) u
                        """)
                .params(
                        ArrayParameters.of(corrections)
                                .constant(cluster)
                                .uuid(correction -> UUID.randomUUID())
                                .uuid(correction -> correction.entry().pod())
                                .instant(correction -> correction.entry().from())
                                .instant(correction -> correction.entry().to())
                                .text(correction -> correction.entry().namespace())
                                .text(correction -> correction.entry().budget())
                                .number(correction -> correction.entry().rate())
                                .number(correction -> correction.entry().amount().microGpuSeconds())
                                .text(Correction::reason)
                                .parameters())
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
        if (sums.isEmpty()) {
            return;
        }
        jdbc.sql(
                        """
                        insert into usage_hour (cluster, budget, namespace, hour, amount)
                        select ?, * from unnest(?::text[], ?::text[], ?::timestamptz[], ?::bigint[])
                        on conflict (cluster, budget, hour, namespace)
                        do update set amount = usage_hour.amount + excluded.amount
                        """)
                .params(
                        ArrayParameters.of(List.copyOf(sums.entrySet()))
                                .constant(cluster)
                                .text(sum -> sum.getKey().budget())
                                .text(sum -> sum.getKey().namespace())
                                .instant(sum -> sum.getKey().hour())
                                .number(Map.Entry::getValue)
                                .parameters())
                .update();
    }

    private void advance(FeedPosition heard) {
        if (heard.equals(FeedPosition.NOTHING)) {
            return;
        }
        jdbc.sql(
                        """
                        update cluster set pod_position = coalesce(:position::text, pod_position),
                            seen_until = greatest(seen_until, :seen::timestamptz),
                            swept_until = coalesce(:swept::timestamptz, swept_until)
                        where id = :id
                        """)
                .param("id", cluster)
                .param("position", heard.position())
                .param("seen", Timestamps.text(heard.seen()))
                .param("swept", Timestamps.text(heard.swept()))
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

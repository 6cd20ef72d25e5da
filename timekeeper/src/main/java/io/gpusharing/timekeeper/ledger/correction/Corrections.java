package io.gpusharing.timekeeper.ledger.correction;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.ledger.store.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * Corrections that are ordered, by people as a rule, with their reasons. They are entries like all
 * others: nothing that was charged is touched.
 */
@Repository
public class Corrections {

    private final ClusterDatabase database;
    private final Ledger ledger;

    public Corrections(ClusterDatabase database, Ledger ledger) {
        this.database = database;
        this.ledger = ledger;
    }

    /**
     * A correction as it stands in the ledger.
     *
     * @param pod null if it is not shown to who asks
     * @param rate difference in micro-GPUs, negative where it gives back
     * @param amount difference in micro-GPU-seconds
     * @param author who made it; {@code timekeeper} where an end was reported late, or the pod was
     *     not let start
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Written(
            UUID id,
            @Nullable UUID pod,
            String namespace,
            String budget,
            Instant from,
            Instant to,
            long rate,
            long amount,
            String amountMinutes,
            String reason,
            String author,
            Instant postedAt) {

        /** The same for who may not see which pod it is. */
        public Written withoutPod() {
            return new Written(
                    id,
                    null,
                    namespace,
                    budget,
                    from,
                    to,
                    rate,
                    amount,
                    amountMinutes,
                    reason,
                    author,
                    postedAt);
        }
    }

    /**
     * Keeps everybody else from posting or correcting anything of a pod until the transaction ends.
     *
     * @return up to where its charges are posted; empty if it never held anything
     */
    public Optional<Instant> hold(UUID pod) {
        return database.sql(
                        """
                        select posted_until from pod_allocation where cluster = :cluster and pod_uid = :pod
                        for update
                        """)
                .param("pod", pod)
                .query((row, number) -> Timestamps.instant(row, "posted_until"))
                .optional();
    }

    /** The budgets that paid for any part of a span of a pod, by its charges. */
    public List<String> payers(UUID pod, Instant from, Instant to) {
        return database.sql(
                        """
                        select distinct budget from charge
                        where cluster = :cluster and pod_uid = :pod and budget <> ''
                          and charged_to > :from::timestamptz and charged_from < :to::timestamptz
                          and charged_from >= :from::timestamptz - interval '1 hour'
                        order by budget
                        """)
                .param("pod", pod)
                .param("from", from)
                .param("to", to)
                .query((row, number) -> row.getString("budget"))
                .list();
    }

    /** Whether people had any part of a span corrected. */
    public boolean isCorrectedByPeople(UUID pod, Instant from, Instant to) {
        return database.sql(
                        """
                        select exists (select 1 from correction
                        where cluster = :cluster and pod_uid = :pod and object is not null
                          and charged_to > :from::timestamptz and charged_from < :to::timestamptz)
                        """)
                .param("pod", pod)
                .param("from", from)
                .param("to", to)
                .query(Boolean.class)
                .single();
    }

    /**
     * The pods of a name that held GPUs in a span, by UID.
     *
     * @param most how many at most: anybody may make pods of one name
     */
    public List<UUID> pods(String namespace, String name, Instant from, Instant to, int most) {
        return database.sql(
                        """
                        select pod_uid from pod_allocation
                        where cluster = :cluster and namespace = :namespace and name = :name and not allocation
                          and held_from < :to::timestamptz and (held_until is null or held_until > :from::timestamptz)
                        order by pod_uid limit :most
                        """)
                .param("most", most)
                .param("namespace", namespace)
                .param("name", name)
                .param("from", from)
                .param("to", to)
                .query((row, number) -> row.getObject("pod_uid", UUID.class))
                .list();
    }

    /** The lowest rate at which a part of a span was charged; empty if nothing was. */
    public OptionalLong lowestRate(CorrectionOrder order) {
        return entries("charge", order).stream()
                .filter(it -> it.budget().equals(order.budget()))
                .mapToLong(Entry::rate)
                .min();
    }

    /** What was written for a {@code GpuCorrection}, oldest first; empty if nothing was. */
    public List<Written> ofObject(UUID object) {
        return database.sql(
                        """
                        select * from correction where cluster = :cluster and object = :object
                        order by charged_from
                        """)
                .param("object", object)
                .query((row, number) -> written(row))
                .list();
    }

    /** A budget's corrections, latest first. */
    @Transactional(readOnly = true)
    public List<Written> of(String budget, @Nullable UUID after, int size) {
        return database.sql(
                        """
                        select * from correction
                        where cluster = :cluster and budget = :budget
                          and (:after::uuid is null or (posted_at, id) < (
                              select posted_at, id from correction where id = :after))
                        order by posted_at desc, id desc limit :size
                        """)
                .param("budget", budget)
                .param("after", after)
                .param("size", size)
                .query((row, number) -> written(row))
                .list();
    }

    /**
     * Carries an order out and updates the hourly sums. Whoever has drawn up an end of the pod
     * meanwhile finds that there is more to take back than was read, and draws it up anew.
     *
     * @param object UID of the {@code GpuCorrection} that orders it; null for one of our own
     * @return what was written; empty if nothing differs, or nothing was charged there
     */
    @Transactional
    public List<Written> write(
            CorrectionOrder order, String reason, String author, @Nullable UUID object) {
        // A leader that fell asleep before this reads what the next one has taken back since.
        hold(order.pod());
        List<Correction> corrections =
                order.entries(entries("charge", order), entries("correction", order)).stream()
                        .map(it ->
                                new Correction(UUID.randomUUID(), it, reason, author, true, object))
                        .toList();
        ledger.post(new Posting(corrections));
        return database.sql(
                        """
                        select * from correction where cluster = :cluster and id = any(:ids)
                        order by charged_from
                        """)
                .uuids("ids", corrections.stream().map(Correction::id).toList())
                .query((row, number) -> written(row))
                .list();
    }

    private List<Entry> entries(String table, CorrectionOrder order) {
        return database.sql(
                        """
                        select pod_uid, namespace, budget, charged_from, charged_to, rate from %s
                        where cluster = :cluster and pod_uid = :pod
                          and charged_to > :from::timestamptz and charged_from < :to::timestamptz
                          and charged_from >= :from::timestamptz - interval '1 hour'
                        order by charged_from
                        """
                                .formatted(table))
                .param("pod", order.pod())
                .param("from", order.from())
                .param("to", order.to())
                .query(Rows::entry)
                .list();
    }

    private static Written written(ResultSet row) throws SQLException {
        GpuTime amount = new GpuTime(row.getLong("amount"));
        return new Written(
                row.getObject("id", UUID.class),
                row.getObject("pod_uid", UUID.class),
                row.getString("namespace"),
                row.getString("budget"),
                Timestamps.instant(row, "charged_from"),
                Timestamps.instant(row, "charged_to"),
                row.getLong("rate"),
                amount.microGpuSeconds(),
                amount.minutes(),
                row.getString("reason"),
                row.getString("author"),
                Timestamps.instant(row, "posted_at"));
    }
}

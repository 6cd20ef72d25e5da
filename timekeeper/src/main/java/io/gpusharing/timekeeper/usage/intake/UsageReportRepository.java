package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.database.ArrayColumns;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterStatement;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.usage.Counters;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.Unattributed;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Duplicate;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The database of reports. A batch is one transaction: everything in it is durable when {@link
 * #post} returns, or nothing is.
 */
@Repository
public class UsageReportRepository {

    // Pod by pod and key by key, here and in DIGESTS: a plan that was made while a table was empty
    // would read all of it each time, for as long as nobody has analyzed it.
    private static final String COUNTERS_OF_PODS =
            """
            select c.pod_uid, c.run, c.meter, c.device, c.basis, c.basis_reason, c.gpu_us, c.at_most_us, c.memory_bs,
                   c.covered_us, c.uncovered_us, c.sequence, c.last_at
              from unnest(:pod::uuid[]) as p (pod_uid)
                   cross join lateral (select * from usage_counter
                                        where cluster = :cluster and pod_uid = p.pod_uid offset 0) c
            """;

    // The key is the reporter's, so that nobody can use up another's run and sequence. What was
    // there already is not counted; whether it is the same is asked with DIGESTS. In one order for
    // all replicas, so that two of them cannot wait for each other.
    private static final String INSERT_REPORTS =
            """
            insert into usage_report (cluster, reporter, run, sequence, digest, received_at)
            select :cluster, * from unnest(:reporter::uuid[], :run::uuid[], :sequence::bigint[],
                                           :digest::uuid[], :at::timestamptz[])
                   as t (reporter, run, sequence, digest, at)
             order by reporter, run, sequence
            on conflict (cluster, reporter, run, sequence) do nothing
            """;

    private static final String DIGESTS =
            """
            select k.reporter, k.run, k.sequence, r.digest
              from unnest(:reporter::uuid[], :run::uuid[], :sequence::bigint[]) as k (reporter, run, sequence)
                   cross join lateral (select digest from usage_report
                                        where cluster = :cluster and reporter = k.reporter and run = k.run
                                          and sequence = k.sequence limit 1) r
            """;

    // Taking the larger of each makes repeated and reordered reports harmless.
    private static final String WRITE_MEASURED_USE =
            """
            insert into usage_counter as c
                   (cluster, pod_uid, run, meter, device, basis, basis_reason, gpu_us, at_most_us, memory_bs,
                    covered_us, uncovered_us, sequence, first_at, last_at)
            select :cluster, t.*, t.at
              from unnest(:pod::uuid[], :run::uuid[], :meter::text[], :device::text[], :basis::text[],
                          :reason::text[], :gpu::bigint[], :most::bigint[], :memory::bigint[], :covered::bigint[],
                          :uncovered::bigint[], :sequence::bigint[], :at::timestamptz[])
                   as t (pod_uid, run, meter, device, basis, basis_reason, gpu_us, at_most_us, memory_bs,
                         covered_us, uncovered_us, sequence, at)
            on conflict (cluster, pod_uid, run, meter, device) do update
               set basis = case when excluded.sequence >= c.sequence
                                then excluded.basis else c.basis end,
                   basis_reason = case when excluded.sequence >= c.sequence
                                       then excluded.basis_reason else c.basis_reason end,
                   gpu_us = greatest(c.gpu_us, excluded.gpu_us),
                   at_most_us = greatest(c.at_most_us, excluded.at_most_us),
                   memory_bs = greatest(c.memory_bs, excluded.memory_bs),
                   covered_us = greatest(c.covered_us, excluded.covered_us),
                   uncovered_us = greatest(c.uncovered_us, excluded.uncovered_us),
                   sequence = greatest(c.sequence, excluded.sequence),
                   last_at = greatest(c.last_at, excluded.last_at)
            """;

    private static final String WRITE_UNATTRIBUTED_USE =
            """
            insert into usage_unattributed as u (cluster, node, run, device, gpu_us, last_at)
            select :cluster, node, run, device, max(gpu_us), max(at)
              from unnest(:node::text[], :run::uuid[], :device::text[], :gpu::bigint[], :at::timestamptz[])
                   as t (node, run, device, gpu_us, at)
             group by node, run, device order by node, run, device
            on conflict (cluster, node, run, device) do update
               set gpu_us = greatest(u.gpu_us, excluded.gpu_us),
                   last_at = greatest(u.last_at, excluded.last_at)
            """;

    private final ClusterDatabase database;
    private final TransactionTemplate transaction;
    private final UsageProperties properties;

    public UsageReportRepository(
            ClusterDatabase database, TransactionTemplate transaction, UsageProperties properties) {
        this.database = database;
        this.transaction = transaction;
        this.properties = properties;
    }

    /**
     * Takes a batch, in its order.
     *
     * @return one outcome for each delivery, durable
     * @throws org.springframework.dao.DataAccessException if nothing was taken
     */
    public List<Outcome> post(List<Delivery> batch) {
        return transaction.execute(status -> inTransaction(batch));
    }

    /** Forgets which reports came before an instant; their counters are kept. */
    int forgetReportsBefore(Instant instant) {
        return database.sql(
                        "delete from usage_report where cluster = :cluster and received_at < :instant")
                .param("instant", instant)
                .update();
    }

    private List<Outcome> inTransaction(List<Delivery> batch) {
        List<UUID> pods =
                batch.stream().flatMap(it -> it.pods().keySet().stream()).distinct().toList();
        CounterMerge merge = new CounterMerge(counters(pods), properties);
        Map<Delivery.Key, UUID> digests = digests(batch);
        var fresh = new ArrayList<Delivery>();
        var outcomes = new ArrayList<Outcome>(batch.size());
        for (Delivery delivery : batch) {
            UUID before = digests.get(delivery.key());
            if (before != null) {
                outcomes.add(again(delivery, before, merge));
                continue;
            }
            var refused = merge.add(delivery);
            if (refused.isPresent()) {
                outcomes.add(refused.get());
            } else {
                digests.put(delivery.key(), delivery.digest());
                fresh.add(delivery);
                outcomes.add(new Accepted(merge.heartbeatIsEnough(delivery)));
            }
        }
        insertReports(fresh);
        writeMeasuredUse(List.copyOf(merge.changed()));
        writeUnattributedUse(fresh);
        return outcomes;
    }

    private static Outcome again(Delivery delivery, UUID before, CounterMerge merge) {
        return before.equals(delivery.digest())
                ? new Duplicate(merge.heartbeatIsEnough(delivery))
                : new Refused(
                        Refusal.CONFLICT,
                        "run %s, sequence %d was reported before with another content"
                                .formatted(delivery.report().run(), delivery.report().sequence()));
    }

    private List<Counters> counters(List<UUID> pods) {
        return database.sql(COUNTERS_OF_PODS)
                .rows(pods)
                .uuid("pod", pod -> pod)
                .statement()
                .query((row, number) -> counters(row))
                .list();
    }

    private static Counters counters(ResultSet row) throws SQLException {
        return new Counters(
                new Counters.Key(
                        row.getObject("pod_uid", UUID.class),
                        row.getObject("run", UUID.class),
                        Meter.valueOf(row.getString("meter")),
                        row.getString("device")),
                Basis.valueOf(row.getString("basis")),
                row.getString("basis_reason"),
                row.getLong("gpu_us"),
                row.getLong("at_most_us"),
                row.getLong("memory_bs"),
                row.getLong("covered_us"),
                row.getLong("uncovered_us"),
                row.getLong("sequence"),
                Timestamps.instant(row, "last_at"));
    }

    /** Of those deliveries that were taken before. */
    private Map<Delivery.Key, UUID> digests(List<Delivery> batch) {
        Map<Delivery.Key, UUID> digests = new HashMap<>();
        keys(database.sql(DIGESTS), batch)
                .statement()
                .query(row -> {
                    digests.put(
                            new Delivery.Key(
                                    row.getObject("reporter", UUID.class),
                                    row.getObject("run", UUID.class),
                                    row.getLong("sequence")),
                            row.getObject("digest", UUID.class));
                });
        return digests;
    }

    private void insertReports(List<Delivery> fresh) {
        int inserted =
                keys(database.sql(INSERT_REPORTS), fresh)
                        .uuid("digest", Delivery::digest)
                        .instant("at", Delivery::at)
                        .update();
        if (inserted < fresh.size()) {
            // Another replica took one of them since we read; reading again settles it.
            throw new ConcurrencyFailureException("a report was taken elsewhere at the same time");
        }
    }

    private void writeMeasuredUse(List<Counters> counters) {
        database.sql(WRITE_MEASURED_USE)
                .rows(counters)
                .uuid("pod", it -> it.key().pod())
                .uuid("run", it -> it.key().run())
                .text("meter", it -> it.key().meter().name())
                .text("device", it -> it.key().device())
                .text("basis", it -> it.basis().name())
                .text("reason", Counters::basisReason)
                .number("gpu", Counters::gpuMicroseconds)
                .number("most", Counters::atMostMicroseconds)
                .number("memory", Counters::memoryByteSeconds)
                .number("covered", Counters::coveredMicroseconds)
                .number("uncovered", Counters::uncoveredMicroseconds)
                .number("sequence", Counters::sequence)
                .instant("at", Counters::lastAt)
                .update();
    }

    private void writeUnattributedUse(List<Delivery> fresh) {
        record Row(@Nullable String node, UUID run, Unattributed use, Instant at) {}
        List<Row> rows =
                fresh.stream()
                        .flatMap(it ->
                                it.report().unattributed().stream()
                                        .map(use ->
                                                new Row(
                                                        it.reporter().node(),
                                                        it.report().run(),
                                                        use,
                                                        it.at())))
                        .filter(row -> row.node() != null)
                        .toList();
        database.sql(WRITE_UNATTRIBUTED_USE)
                .rows(rows)
                .text("node", Row::node)
                .uuid("run", Row::run)
                .text("device", it -> it.use().uuid())
                .number("gpu", it -> it.use().gpuMicroseconds())
                .instant("at", Row::at)
                .update();
    }

    private static ArrayColumns<Delivery> keys(
            ClusterStatement statement, List<Delivery> deliveries) {
        return statement
                .rows(deliveries)
                .uuid("reporter", it -> it.key().reporter())
                .uuid("run", it -> it.key().run())
                .number("sequence", it -> it.key().sequence());
    }
}

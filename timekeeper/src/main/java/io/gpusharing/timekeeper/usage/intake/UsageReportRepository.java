package io.gpusharing.timekeeper.usage.intake;

import static java.util.stream.Collectors.toMap;

import io.gpusharing.timekeeper.usage.Counters;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.Unattributed;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Duplicate;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The database of reports. A batch is one transaction: everything in it is durable when {@link
 * #post} returns, or nothing is.
 */
public class UsageReportRepository {

    // Pod by pod and key by key, here and in DIGESTS: a plan that was made while a table was empty
    // would read all of it each time, for as long as nobody has analyzed it.
    private static final String COUNTERS_OF_PODS =
            """
            select c.pod_uid, c.run, c.meter, c.device, c.basis, c.basis_reason, c.gpu_us, c.memory_bs,
                   c.covered_us, c.uncovered_us, c.sequence, c.last_at
              from unnest(?::uuid[]) as p (pod_uid)
                   cross join lateral (select * from usage_counter
                                        where cluster = ? and pod_uid = p.pod_uid offset 0) c
            """;

    // The key is the reporter's, so that nobody can use up another's run and sequence. What was
    // there already is not returned; whether it is the same is asked with DIGESTS.
    private static final String INSERT_REPORTS =
            """
            insert into usage_report (cluster, reporter, run, sequence, digest, received_at)
            select ?, * from unnest(?::uuid[], ?::uuid[], ?::bigint[], ?::uuid[], ?::timestamptz[])
            on conflict (cluster, reporter, run, sequence) do nothing
            returning reporter, run, sequence
            """;

    private static final String DIGESTS =
            """
            select k.reporter, k.run, k.sequence, r.digest
              from unnest(?::uuid[], ?::uuid[], ?::bigint[]) as k (reporter, run, sequence)
                   cross join lateral (select digest from usage_report
                                        where cluster = ? and reporter = k.reporter and run = k.run
                                          and sequence = k.sequence limit 1) r
            """;

    // Taking the larger of each makes repeated and reordered reports harmless.
    private static final String UPSERT_COUNTERS =
            """
            insert into usage_counter as c
                   (cluster, pod_uid, run, meter, device, basis, basis_reason, gpu_us, memory_bs,
                    covered_us, uncovered_us, sequence, first_at, last_at)
            select ?, t.pod_uid, t.run, t.meter, t.device, t.basis, t.basis_reason, t.gpu_us,
                   t.memory_bs, t.covered_us, t.uncovered_us, t.sequence, t.at, t.at
              from unnest(?::uuid[], ?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[],
                          ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
                          ?::timestamptz[])
                   as t (pod_uid, run, meter, device, basis, basis_reason, gpu_us, memory_bs,
                         covered_us, uncovered_us, sequence, at)
            on conflict (cluster, pod_uid, run, meter, device) do update
               set basis = case when excluded.sequence >= c.sequence
                                then excluded.basis else c.basis end,
                   basis_reason = case when excluded.sequence >= c.sequence
                                       then excluded.basis_reason else c.basis_reason end,
                   gpu_us = greatest(c.gpu_us, excluded.gpu_us),
                   memory_bs = greatest(c.memory_bs, excluded.memory_bs),
                   covered_us = greatest(c.covered_us, excluded.covered_us),
                   uncovered_us = greatest(c.uncovered_us, excluded.uncovered_us),
                   sequence = greatest(c.sequence, excluded.sequence),
                   last_at = greatest(c.last_at, excluded.last_at)
            """;

    private static final String UPSERT_UNATTRIBUTED =
            """
            insert into usage_unattributed as u (cluster, node, run, device, gpu_us, last_at)
            select ?, * from unnest(?::text[], ?::uuid[], ?::text[], ?::bigint[], ?::timestamptz[])
            on conflict (cluster, node, run, device) do update
               set gpu_us = greatest(u.gpu_us, excluded.gpu_us),
                   last_at = greatest(u.last_at, excluded.last_at)
            """;

    private static final String FORGET =
            """
            delete from usage_report
             where cluster = ? and received_at < ?
            """;

    private final String cluster;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final UsageProperties properties;

    public UsageReportRepository(
            String cluster,
            JdbcTemplate jdbc,
            TransactionTemplate transaction,
            UsageProperties properties) {
        this.cluster = cluster;
        this.jdbc = jdbc;
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

    /** Forgets which reports came before an instant; their counters stay. */
    int forgetReportsBefore(Instant instant) {
        return jdbc.update(FORGET, cluster, Timestamp.from(instant));
    }

    private List<Outcome> inTransaction(List<Delivery> batch) {
        Set<UUID> pods = new HashSet<>();
        batch.forEach(delivery -> pods.addAll(delivery.pods().keySet()));
        Intake intake =
                new Intake(
                        counters(pods),
                        properties.tolerance(),
                        properties.agentFresh(),
                        properties.maxRuns());

        Map<Delivery.Key, Delivery> fresh = new HashMap<>();
        var outcomes = new ArrayList<Outcome>(batch.size());
        Map<Delivery.Key, UUID> digests = new HashMap<>(digests(batch));
        for (Delivery delivery : batch) {
            UUID before = digests.get(delivery.key());
            if (before != null) {
                outcomes.add(again(delivery, before, intake));
                continue;
            }
            var refused = intake.take(delivery);
            if (refused.isPresent()) {
                outcomes.add(refused.get());
            } else {
                digests.put(delivery.key(), delivery.digest());
                fresh.put(delivery.key(), delivery);
                outcomes.add(new Accepted(heartbeatIsEnough(delivery, intake)));
            }
        }
        insertReports(fresh.values());
        upsert(intake.changed());
        upsertUnattributed(fresh.values());
        return outcomes;
    }

    private static Outcome again(Delivery delivery, UUID before, Intake intake) {
        return before.equals(delivery.digest())
                ? new Duplicate(heartbeatIsEnough(delivery, intake))
                : new Refused(
                        Refusal.CONFLICT,
                        "run %s, sequence %d was told before with another content"
                                .formatted(delivery.report().run(), delivery.report().sequence()));
    }

    private static boolean heartbeatIsEnough(Delivery delivery, Intake intake) {
        return delivery.report().meter() == Meter.Sidecar
                && intake.coveredByAgent(delivery.reporter().pod(), delivery.at());
    }

    private List<Counters> counters(Set<UUID> pods) {
        return jdbc.query(
                connection -> {
                    PreparedStatement statement = connection.prepareStatement(COUNTERS_OF_PODS);
                    statement.setArray(1, texts(connection, pods, UUID::toString));
                    statement.setString(2, cluster);
                    return statement;
                },
                (row, number) -> counters(row));
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
                row.getLong("memory_bs"),
                row.getLong("covered_us"),
                row.getLong("uncovered_us"),
                row.getLong("sequence"),
                row.getObject("last_at", OffsetDateTime.class).toInstant());
    }

    private Map<Delivery.Key, UUID> digests(List<Delivery> batch) {
        List<Delivery.Key> keys = batch.stream().map(Delivery::key).toList();
        return jdbc
                .query(
                        connection -> {
                            PreparedStatement statement = connection.prepareStatement(DIGESTS);
                            keyArrays(connection, statement, 1, keys);
                            statement.setString(4, cluster);
                            return statement;
                        },
                        (row, number) -> Map.entry(key(row), row.getObject("digest", UUID.class)))
                .stream()
                .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private void insertReports(Collection<Delivery> fresh) {
        if (fresh.isEmpty()) {
            return;
        }
        // One order for all replicas, so that two of them cannot wait for each other.
        List<Delivery> ordered =
                fresh.stream()
                        .sorted(
                                Comparator.comparing((Delivery it) -> it.key().reporter())
                                        .thenComparing(it -> it.key().run())
                                        .thenComparingLong(it -> it.key().sequence()))
                        .toList();
        int inserted =
                jdbc.query(
                                connection -> {
                                    PreparedStatement statement =
                                            connection.prepareStatement(INSERT_REPORTS);
                                    statement.setString(1, cluster);
                                    keyArrays(
                                            connection,
                                            statement,
                                            2,
                                            ordered.stream().map(Delivery::key).toList());
                                    statement.setArray(
                                            5, texts(connection, ordered, Delivery::digest));
                                    statement.setArray(6, texts(connection, ordered, Delivery::at));
                                    return statement;
                                },
                                (row, number) -> key(row))
                        .size();
        if (inserted < ordered.size()) {
            // Another replica took one of them since we looked; looking again settles it.
            throw new ConcurrencyFailureException("a report was taken elsewhere at the same time");
        }
    }

    private void upsert(Collection<Counters> counters) {
        if (counters.isEmpty()) {
            return;
        }
        jdbc.update(connection -> {
            PreparedStatement s = connection.prepareStatement(UPSERT_COUNTERS);
            s.setString(1, cluster);
            s.setArray(2, texts(connection, counters, it -> it.key().pod()));
            s.setArray(3, texts(connection, counters, it -> it.key().run()));
            s.setArray(4, texts(connection, counters, it -> it.key().meter().name()));
            s.setArray(5, texts(connection, counters, it -> it.key().device()));
            s.setArray(6, texts(connection, counters, it -> it.basis().name()));
            s.setArray(7, texts(connection, counters, Counters::basisReason));
            s.setArray(8, numbers(connection, counters, Counters::gpuMicroseconds));
            s.setArray(9, numbers(connection, counters, Counters::memoryByteSeconds));
            s.setArray(10, numbers(connection, counters, Counters::coveredMicroseconds));
            s.setArray(11, numbers(connection, counters, Counters::uncoveredMicroseconds));
            s.setArray(12, numbers(connection, counters, Counters::sequence));
            s.setArray(13, texts(connection, counters, Counters::lastAt));
            return s;
        });
    }

    private void upsertUnattributed(Collection<Delivery> fresh) {
        record Row(String node, UUID run, String device, long micros, Instant at) {}
        Map<List<Object>, Row> rows = new HashMap<>();
        for (Delivery delivery : fresh) {
            String node = delivery.reporter().node();
            for (Unattributed use : delivery.report().unattributed()) {
                if (node != null) {
                    UUID run = delivery.report().run();
                    rows.merge(
                            List.of(node, run, use.uuid()),
                            new Row(node, run, use.uuid(), use.gpuMicroseconds(), delivery.at()),
                            (one, other) -> one.micros() >= other.micros() ? one : other);
                }
            }
        }
        if (rows.isEmpty()) {
            return;
        }
        List<Row> ordered =
                rows.values().stream()
                        .sorted(
                                Comparator.comparing(Row::node)
                                        .thenComparing(Row::run)
                                        .thenComparing(Row::device))
                        .toList();
        jdbc.update(connection -> {
            PreparedStatement s = connection.prepareStatement(UPSERT_UNATTRIBUTED);
            s.setString(1, cluster);
            s.setArray(2, texts(connection, ordered, Row::node));
            s.setArray(3, texts(connection, ordered, Row::run));
            s.setArray(4, texts(connection, ordered, Row::device));
            s.setArray(5, numbers(connection, ordered, Row::micros));
            s.setArray(6, texts(connection, ordered, Row::at));
            return s;
        });
    }

    private static void keyArrays(
            Connection connection, PreparedStatement statement, int first, List<Delivery.Key> keys)
            throws SQLException {
        statement.setArray(first, texts(connection, keys, Delivery.Key::reporter));
        statement.setArray(first + 1, texts(connection, keys, Delivery.Key::run));
        statement.setArray(first + 2, numbers(connection, keys, Delivery.Key::sequence));
    }

    private static Delivery.Key key(ResultSet row) throws SQLException {
        return new Delivery.Key(
                row.getObject("reporter", UUID.class),
                row.getObject("run", UUID.class),
                row.getLong("sequence"));
    }

    /**
     * Numbers and texts are what the driver sends as they are; of arrays of anything else it makes
     * one long literal, letter by letter. PostgreSQL reads identifiers and instants from their
     * texts, those in UTC.
     */
    private static <T> java.sql.Array texts(
            Connection connection, Collection<T> rows, Function<T, Object> column)
            throws SQLException {
        return connection.createArrayOf(
                "text", rows.stream().map(column).map(Object::toString).toArray(String[]::new));
    }

    private static <T> java.sql.Array numbers(
            Connection connection, Collection<T> rows, Function<T, Long> column)
            throws SQLException {
        return connection.createArrayOf("int8", rows.stream().map(column).toArray(Long[]::new));
    }
}

package io.gpusharing.e2e.story;

import io.gpusharing.e2e.cluster.AuditBills;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.recount.Bill;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.awaitility.Awaitility;

/** The timekeeper's ledger, read directly from its database, and compared with the recount. */
public final class Ledger {

    private final TestCluster cluster;
    private final String url;
    private final String user;

    private Ledger(TestCluster cluster, String url, String user) {
        this.cluster = cluster;
        this.url = url;
        this.user = user;
    }

    /** That of a timekeeper beside the cluster. */
    public static Ledger of(TestCluster cluster, Installation installation) {
        return new Ledger(cluster, installation.database().url(), "postgres");
    }

    /** That of the timekeeper's pod, reached as an administrator would: through kubectl. */
    static Ledger bundled(TestCluster cluster) {
        Program.start(
                cluster,
                "port-forward",
                Map.of(),
                List.of(
                        Repository.tool("kubectl").toString(),
                        "--kubeconfig=" + cluster.kubeconfig(),
                        "port-forward",
                        "--namespace=gpusharing-system",
                        "gpusharing-timekeeper-0",
                        "15432:5432"));
        Awaitility.await("PostgreSQL is reached")
                .until(() -> {
                    try (var socket = new Socket(InetAddress.getLoopbackAddress(), 15432)) {
                        return socket.isConnected();
                    } catch (IOException e) {
                        return false;
                    }
                });
        return new Ledger(cluster, "jdbc:postgresql://127.0.0.1:15432/gpusharing", "gpusharing");
    }

    /**
     * A pod on whose bill the two do not agree.
     *
     * @param ledger micro-GPU-seconds that the timekeeper charged, corrections included
     * @param recount micro-GPU-seconds by the audit log
     */
    public record Difference(String pod, long ledger, long recount) {}

    /** Every pod that the two bill differently, including pods that only one of them has. */
    List<Difference> differences() {
        return differences(AuditBills.of(cluster), charges("true"));
    }

    /** As {@link #differences()}, of the pods of one namespace. */
    public List<Difference> differences(String namespace) {
        Map<String, Bill> bills = new HashMap<>(AuditBills.of(cluster));
        bills.values().removeIf(bill -> !bill.namespace().equals(namespace));
        return differences(bills, charges("namespace = '%s'".formatted(namespace)));
    }

    private static List<Difference> differences(
            Map<String, Bill> bills, Map<String, Long> charges) {
        var uids = new TreeSet<>(charges.keySet());
        uids.addAll(bills.keySet());
        var differences = new ArrayList<Difference>();
        for (String uid : uids) {
            Bill bill = bills.get(uid);
            long recount = bill == null ? 0 : AuditBills.amount(bill);
            long ledger = charges.getOrDefault(uid, 0L);
            if (ledger != recount) {
                String name = bill == null ? uid : bill.namespace() + "/" + bill.name();
                differences.add(new Difference(name, ledger, recount));
            }
        }
        return differences;
    }

    /**
     * What the ledger says of a pod.
     *
     * @param until when it ended; empty while it is charged
     * @param rate micro-GPUs
     */
    public record AllocationInterval(String from, String until, long rate) {

        /** PostgreSQL writes {@code 2026-03-10 12:00:00+00}. */
        public Instant since() {
            return instant(from);
        }

        Instant ended() {
            return instant(until);
        }

        private static Instant instant(String written) {
            return OffsetDateTime.parse(written.replace(' ', 'T') + ":00").toInstant();
        }
    }

    /** Everything that is charged in a namespace, by the pod's name. */
    public Map<String, AllocationInterval> allocations(String namespace) {
        return query(
                "select name, held_from::text, coalesce(held_until::text, ''), rate from pod_allocation where namespace = '%s'"
                        .formatted(namespace),
                rows -> {
                    var found = new TreeMap<String, AllocationInterval>();
                    while (rows.next()) {
                        found.put(
                                rows.getString(1),
                                new AllocationInterval(
                                        rows.getString(2), rows.getString(3), rows.getLong(4)));
                    }
                    return found;
                });
    }

    /** How many pods are still being charged. */
    public long open() {
        return number("select count(*) from pod_allocation where held_until is null");
    }

    /** As {@link #open()}, of one namespace. */
    public long open(String namespace) {
        return number(
                "select count(*) from pod_allocation where held_until is null and namespace = '%s'"
                        .formatted(namespace));
    }

    /** How many ends were not seen but estimated. */
    long estimated() {
        return number("select count(*) from pod_allocation where estimated");
    }

    /** Those pods as {@link Difference} names them. */
    public Set<String> estimatedPods() {
        return query(
                "select namespace || '/' || name from pod_allocation where estimated",
                rows -> {
                    var found = new HashSet<String>();
                    while (rows.next()) {
                        found.add(rows.getString(1));
                    }
                    return found;
                });
    }

    /** Micro-GPU-seconds of each namespace. */
    Map<String, Long> chargesByNamespace() {
        return query(
                "select namespace, sum(amount) from pod_charge group by 1",
                rows -> {
                    var found = new HashMap<String, Long>();
                    while (rows.next()) {
                        found.put(rows.getString(1), rows.getLong(2));
                    }
                    return found;
                });
    }

    /** Why a pod's charges were corrected. */
    List<String> corrections(String pod) {
        return texts(
                "select reason from correction join pod_allocation using (cluster, pod_uid) where name = '%s'",
                pod);
    }

    private List<String> texts(String sql, String pod) {
        return query(
                sql.formatted(pod),
                rows -> {
                    var found = new ArrayList<String>();
                    while (rows.next()) {
                        found.add(rows.getString(1));
                    }
                    return found;
                });
    }

    /** Micro-GPU-seconds of all charges and corrections together. */
    long total() {
        return number("select coalesce(sum(amount), 0) from pod_charge");
    }

    /** Whether it is written down that a budget pays for something. */
    boolean knows(String budget) {
        return number("select count(*) from namespace_payer where budget = '%s'".formatted(budget))
                > 0;
    }

    /** Micro-GPU-seconds that no budget pays for. */
    long chargedToNobody() {
        return number(
                "select coalesce(sum(abs(amount)), 0)::bigint from pod_charge where budget = ''");
    }

    /** Adds to one pod's charge behind the timekeeper's back. */
    void tamper(String pod, long amount) {
        execute(
                """
                update charge set amount = amount + %d
                where pod_uid = (select pod_uid from pod_allocation where name = '%s')
                  and charged_from = (select min(charged_from) from charge
                                      where pod_uid = (select pod_uid from pod_allocation where name = '%2$s'))
                """
                        .formatted(amount, pod));
    }

    private Map<String, Long> charges(String where) {
        return query(
                "select pod_uid::text, sum(amount) from pod_charge where %s group by pod_uid"
                        .formatted(where),
                rows -> {
                    var found = new HashMap<String, Long>();
                    while (rows.next()) {
                        found.put(rows.getString(1), rows.getLong(2));
                    }
                    return found;
                });
    }

    private long number(String sql) {
        return query(
                sql,
                rows -> {
                    rows.next();
                    return rows.getLong(1);
                });
    }

    interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    <T> T query(String sql, Reader<T> reader) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return reader.read(rows);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(url, user, "");
    }
}

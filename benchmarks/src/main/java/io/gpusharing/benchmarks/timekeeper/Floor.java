package io.gpusharing.benchmarks.timekeeper;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the database alone takes: the rows of a report, each report in a transaction of its own, by
 * a loop over JDBC on several connections. The bundled PostgreSQL has no pgbench; this is what a
 * script of it would do.
 */
final class Floor {

    private static final String REPORT =
            """
            insert into usage_report (cluster, reporter, run, sequence, digest, received_at)
            values ('floor', ?, ?, ?, ?, now()) on conflict do nothing
            """;

    private static final String COUNTER =
            """
            insert into usage_counter as c (cluster, pod_uid, run, meter, device, basis, basis_reason, gpu_us,
                memory_bs, covered_us, uncovered_us, sequence, first_at, last_at)
            values ('floor', ?, ?, 'Sidecar', ?, 'Process', '', ?, ?, ?, 0, ?, now(), now())
            on conflict (cluster, pod_uid, run, meter, device) do update
            set gpu_us = greatest(c.gpu_us, excluded.gpu_us), memory_bs = greatest(c.memory_bs, excluded.memory_bs),
                covered_us = greatest(c.covered_us, excluded.covered_us),
                sequence = greatest(c.sequence, excluded.sequence), last_at = greatest(c.last_at, excluded.last_at)
            """;

    private Floor() {}

    /** Reports a second. */
    static double reportsPerSecond(Subject subject, int connections, int reporters, int seconds)
            throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        var count = new AtomicLong();
        var threads = new Thread[connections];
        for (int i = 0; i < connections; i++) {
            int first = i * (reporters / connections);
            threads[i] =
                    Thread.ofPlatform()
                            .start(() ->
                                    write(subject, first, reporters / connections, end, count));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return count.get() / (double) seconds;
    }

    private static void write(
            Subject subject, int first, int reporters, long end, AtomicLong count) {
        UUID run = UUID.randomUUID();
        try (Connection connection = subject.database();
                PreparedStatement report = connection.prepareStatement(REPORT);
                PreparedStatement counter = connection.prepareStatement(COUNTER)) {
            connection.setAutoCommit(false);
            for (long sequence = 1; System.nanoTime() < end; sequence++) {
                UUID pod = new UUID(7, first + sequence % reporters);
                report.setObject(1, pod);
                report.setObject(2, run);
                report.setLong(3, sequence);
                report.setObject(4, new UUID(sequence, sequence));
                report.executeUpdate();
                counter.setObject(1, pod);
                counter.setObject(2, run);
                counter.setString(3, "GPU-1f2e3d4c-0000-0000-0000-000000000000");
                for (int column = 4; column <= 7; column++) {
                    counter.setLong(column, sequence);
                }
                counter.executeUpdate();
                connection.commit();
                count.incrementAndGet();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}

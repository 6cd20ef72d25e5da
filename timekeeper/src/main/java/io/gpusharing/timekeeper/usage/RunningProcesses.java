package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.usage.UsageReport.PodProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.Running;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which processes run on GPUs now, as node agents said last. It is no part of the ledger: only the
 * last report of each node is kept, in a table that is not logged, and forgotten some minutes after
 * the next ones do not come.
 */
@Repository
public class RunningProcesses {

    /** Agents report each minute, unless they are in trouble: then nothing is known. */
    private static final Duration KNOWN_FOR = Duration.ofMinutes(5);

    /** A replica whose clock is ahead of another's by more is not believed. */
    private static final Duration AHEAD = Duration.ofMinutes(1);

    private static final JsonMapper JSON = new JsonMapper();

    private static final String REPORTED =
            """
            insert into process_report as r (cluster, node, reported_at, whole, pods)
            values (:cluster, :node, :at, :whole, :pods::jsonb)
            on conflict (cluster, node) do update
               set reported_at = excluded.reported_at, whole = excluded.whole, pods = excluded.pods
             where r.reported_at <= excluded.reported_at or r.reported_at > :ahead
            """;

    private static final String OF_PODS =
            """
            select r.node, r.reported_at, r.whole, p.value::text as pod
              from process_report r
                   left join lateral (select value from jsonb_array_elements(r.pods)
                                       where value ->> 'uid' = any (:pods)) p on true
             where r.cluster = :cluster and r.node = any (:nodes) and r.reported_at > :since
            """;

    private final ClusterDatabase database;

    public RunningProcesses(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * What an agent said of its node.
     *
     * @param at when that came
     * @param whole whether it knew what runs on all GPUs of the node
     * @param pods those of whose processes it was asked, by their UIDs
     */
    public record NodeReport(Instant at, boolean whole, Map<UUID, List<PodProcesses>> pods) {

        /**
         * What a pod runs; empty where the agent does not know it.
         *
         * @param since when the pod began to hold GPUs: an older report says nothing by not naming
         *     it
         */
        public Optional<List<PodProcesses>> of(UUID pod, Instant since) {
            List<PodProcesses> told = pods.get(pod);
            return told == null && whole && at.isAfter(since)
                    ? Optional.of(List.of())
                    : Optional.ofNullable(told);
        }
    }

    /**
     * What an agent says of its node.
     *
     * @param running pods of this node alone
     */
    public void reported(String node, Running running, Instant at) {
        database.sql(REPORTED)
                .param("node", node)
                .param("at", at)
                .param("ahead", at.plus(AHEAD))
                .param("whole", running.whole())
                .param("pods", JSON.writeValueAsString(running.pods()))
                .update();
    }

    /**
     * By node. Of a node that is not in it nobody has said anything for some minutes.
     *
     * @param pods whose processes are wanted
     */
    public Map<String, NodeReport> of(
            Collection<String> nodes, Collection<UUID> pods, Instant now) {
        Map<String, NodeReport> found = new HashMap<>();
        database.sql(OF_PODS)
                .texts("nodes", nodes)
                .texts("pods", pods.stream().map(UUID::toString).toList())
                .param("since", now.minus(KNOWN_FOR))
                .query(row -> add(row, found));
        return found;
    }

    private static void add(ResultSet row, Map<String, NodeReport> found) throws SQLException {
        Instant at = Timestamps.instant(row, "reported_at");
        boolean whole = row.getBoolean("whole");
        NodeReport node =
                found.computeIfAbsent(
                        row.getString("node"), name -> new NodeReport(at, whole, new HashMap<>()));
        String pod = row.getString("pod");
        if (pod != null) {
            PodProcesses processes = JSON.readValue(pod, PodProcesses.class);
            node.pods().computeIfAbsent(processes.uid(), uid -> new ArrayList<>()).add(processes);
        }
    }

    /** Forgets what nodes said that have not said anything since. */
    public int forgetSilent(Instant now) {
        return database.sql(
                        "delete from process_report where cluster = :cluster and reported_at < :before")
                .param("before", now.minus(KNOWN_FOR))
                .update();
    }
}

package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.usage.UsageReport.PodProcesses;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which processes run on GPUs now, as node agents said last. It is no part of the ledger: only the
 * last report of each node is kept, in a table that is in no archive of the database's log, and
 * forgotten when the next ones do not come.
 */
@Repository
public class RunningProcesses {

    /** Agents report each minute at least, unless they are in trouble: then nothing is known. */
    private static final Duration KNOWN_FOR = Duration.ofMinutes(5);

    private static final JsonMapper JSON = new JsonMapper();

    private static final String REPORTED =
            """
            insert into process_report (cluster, node, reported_at, pods)
            values (:cluster, :node, :at, :pods::jsonb)
            on conflict (cluster, node) do update
               set reported_at = excluded.reported_at, pods = excluded.pods
            """;

    private static final String OF_PODS =
            """
            select r.node, r.reported_at, p.value::text as pod
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
     * @param at when
     * @param pods those of whose processes it was asked, by their UIDs; one without is not in it
     */
    public record NodeReport(Instant at, Map<UUID, List<PodProcesses>> pods) {}

    /**
     * What an agent says of its node: all that runs there.
     *
     * @param pods of this node
     */
    public void reported(String node, List<PodProcesses> pods, Instant at) {
        database.sql(REPORTED)
                .param("node", node)
                .param("at", at)
                .param("pods", JSON.writeValueAsString(pods))
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
        NodeReport node =
                found.computeIfAbsent(
                        row.getString("node"), name -> new NodeReport(at, new HashMap<>()));
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

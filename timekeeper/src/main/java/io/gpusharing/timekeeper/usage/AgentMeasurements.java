package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.Measurements;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.springframework.stereotype.Repository;

/** What node agents have reported of pods; all runs of an agent together. */
@Repository
public class AgentMeasurements implements Measurements {

    private static final String COUNTERS =
            """
            select pod_uid, sum(gpu_us)::bigint as used, sum(covered_us)::bigint as covered,
                   count(distinct device)::int as gpus, max(last_at) as last_at
              from usage_counter
             where cluster = :cluster and meter = 'Agent' and pod_uid = any (:pods::uuid[])
             group by pod_uid
            """;

    private final ClusterDatabase database;

    public AgentMeasurements(ClusterDatabase database) {
        this.database = database;
    }

    @Override
    public Map<UUID, Measured> of(Collection<UUID> pods) {
        var measured = new HashMap<UUID, Measured>();
        if (pods.isEmpty()) {
            return measured;
        }
        database.sql(COUNTERS)
                .param("pods", pods.toArray(UUID[]::new))
                .query(row -> {
                    measured.put(
                            row.getObject("pod_uid", UUID.class),
                            // A microsecond of a whole GPU is a micro-GPU-second.
                            new Measured(
                                    row.getLong("used"),
                                    row.getLong("covered"),
                                    row.getInt("gpus"),
                                    row.getTimestamp("last_at").toInstant()));
                });
        return measured;
    }
}

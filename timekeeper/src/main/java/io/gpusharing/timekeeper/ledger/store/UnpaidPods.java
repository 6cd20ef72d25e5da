package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.Payer;
import java.util.List;
import java.util.UUID;
import org.springframework.stereotype.Repository;

/** Namespaces whose pods hold GPUs that no budget pays for. */
@Repository
public class UnpaidPods {

    // A claim's devices are held by its pods, which have rows of their own.
    private static final String PRESENT =
            """
            select namespace, sum(greatest(compute_part, memory_part))::bigint as held,
                   (array_agg(pod_uid order by allocation, held_from, pod_uid))[1] as pod,
                   (array_agg(name order by allocation, held_from, pod_uid))[1] as name
              from pod_allocation
             where cluster = :cluster and budget = :nobody and held_until is null
             group by namespace order by namespace
            """;

    private final ClusterDatabase database;

    public UnpaidPods(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * A namespace, and one of its pods.
     *
     * @param held micro-GPUs that all of its pods hold, whatever their model costs
     * @param pod the one that has held GPUs for longest
     * @param name of that pod
     */
    public record Unpaid(String namespace, long held, UUID pod, String name) {}

    /** Those of this moment, by name. */
    public List<Unpaid> present() {
        return database.sql(PRESENT)
                .param("nobody", Payer.NOBODY)
                .query((row, number) ->
                        new Unpaid(
                                row.getString("namespace"),
                                row.getLong("held"),
                                row.getObject("pod", UUID.class),
                                row.getString("name")))
                .list();
    }
}

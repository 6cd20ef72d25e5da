package io.gpusharing.timekeeper.ledger.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/** Ends of allocations that had to be estimated, and how far off they may be. */
@Repository
public class Estimates {

    private final ClusterDatabase database;

    Estimates(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * An estimated end.
     *
     * @param until the end that is charged
     * @param bound the true end is not later than this; absent if the node was lost
     * @param atMost micro-GPU-seconds that the pod may have been charged too little; absent without
     *     a bound
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Estimate(
            UUID pod,
            String namespace,
            String name,
            String budget,
            Instant until,
            @Nullable Instant bound,
            @Nullable Long atMost) {}

    /** The latest. */
    public List<Estimate> latest(int size) {
        return database.sql(
                        """
                        select pod_uid, namespace, name, budget, rate, held_until, end_bound from pod_allocation
                        where cluster = :cluster and estimated and held_until is not null
                        order by held_until desc, pod_uid limit :size
                        """)
                .param("size", size)
                .query((row, number) -> {
                    Instant until = Timestamps.instant(row, "held_until");
                    Instant bound = Timestamps.instantOrNull(row, "end_bound");
                    return new Estimate(
                            row.getObject("pod_uid", UUID.class),
                            row.getString("namespace"),
                            row.getString("name"),
                            row.getString("budget"),
                            until,
                            bound,
                            bound == null || bound.isBefore(until)
                                    ? null
                                    : GpuTime.accrued(row.getLong("rate"), until, bound)
                                            .microGpuSeconds());
                })
                .list();
    }
}

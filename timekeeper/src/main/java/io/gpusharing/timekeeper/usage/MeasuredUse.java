package io.gpusharing.timekeeper.usage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/**
 * What was measured, for readers. Where a node agent and a sidecar both measured a pod, the one
 * counts that saw more of its time; adding them would count the same work twice.
 */
@Repository
public class MeasuredUse {

    // Runs of a meter follow each other: their counters add up. Devices work side by side: their
    // busy time adds up, the time they were watched does not. The basis is that of the latest
    // report's devices: before a meter has found its GPU it reports an unknown one.
    private static final String BEST_OF =
            """
            with device as (
                select pod_uid, meter, device, sum(gpu_us) as gpu_us, sum(greatest(at_most_us, gpu_us)) as at_most_us,
                       sum(memory_bs) as memory_bs, sum(covered_us) as covered_us, sum(uncovered_us) as uncovered_us,
                       max(last_at) as last_at,
                       (array_agg(basis order by last_at desc, run))[1] as basis,
                       (array_agg(basis_reason order by last_at desc, run))[1] as basis_reason
                  from usage_counter
                 where cluster = :cluster and pod_uid %s
                 group by pod_uid, meter, device
            ), reported as (
                select *, last_at = max(last_at) over (partition by pod_uid, meter) as latest
                  from device
            ), pod as (
                select pod_uid, meter, sum(gpu_us)::bigint as gpu_us,
                       sum(at_most_us)::bigint as at_most_us,
                       least(sum(memory_bs), 9223372036854775807)::bigint as memory_bs, max(covered_us)::bigint as covered_us,
                       max(uncovered_us)::bigint as uncovered_us, max(last_at) as last_at,
                       string_agg(distinct basis, ',' order by basis) filter (where latest) as basis,
                       string_agg(distinct nullif(basis_reason, ''), '; ') filter (where latest)
                           as basis_reason
                  from reported
                 group by pod_uid, meter
            )
            select distinct on (pod_uid) * from pod order by pod_uid, covered_us desc, meter
            """;

    private static final String OF_PODS = BEST_OF.formatted("= any (:pods::uuid[])");

    private static final String OF_BUDGET =
            "select coalesce(sum(gpu_us), 0)::bigint from (%s) best"
                    .formatted(
                            BEST_OF.formatted(
                                    """
                                    in (select pod_uid from pod_allocation
                                         where cluster = :cluster and budget = :budget
                                           and (held_until is null or held_until > :since))
                                    """));

    /** Meters report as often; without it each question would read all pods of a period. */
    private static final Duration KEPT = Duration.ofSeconds(10);

    private static final int MAX_KEPT = 10_000;

    private final ClusterDatabase database;
    private final LoadingCache<BudgetSince, GpuTime> ofBudgets;

    MeasuredUse(ClusterDatabase database, Clock clock) {
        this.database = database;
        this.ofBudgets =
                Caffeine.newBuilder()
                        .maximumSize(MAX_KEPT)
                        .expireAfterWrite(KEPT)
                        .ticker(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()))
                        .build(this::read);
    }

    private record BudgetSince(String budget, Instant since) {}

    /**
     * What a pod really did.
     *
     * @param meter who measured: {@code Agent} or {@code Sidecar}
     * @param basis how, by device, joined by commas
     * @param basisReason why no better; absent if there is none
     * @param measured busy time, in micro-GPU-seconds
     * @param measuredAtMost the most that it can have been, where others on its GPUs computed, too
     * @param memoryByteSeconds device memory held
     * @param coveredMicroseconds wall time that was measured
     * @param uncoveredMicroseconds wall time that was not, since the meter began
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Measured(
            String meter,
            String basis,
            @Nullable String basisReason,
            long measured,
            String measuredMinutes,
            long measuredAtMost,
            long memoryByteSeconds,
            long coveredMicroseconds,
            long uncoveredMicroseconds,
            Instant lastReport) {

        /**
         * How much of its share the pod was busy while it was watched.
         *
         * @param part micro-GPUs that it holds, whatever they cost
         */
        public Busy busy(long part) {
            return Busy.of(
                    measured,
                    measuredAtMost,
                    BigDecimal.valueOf(part)
                            .multiply(BigDecimal.valueOf(coveredMicroseconds))
                            .movePointLeft(6));
        }
    }

    /** By pod; pods that nobody has measured are not in it. */
    public Map<UUID, Measured> of(Collection<UUID> pods) {
        Map<UUID, Measured> found = new HashMap<>();
        database.sql(OF_PODS)
                .param("pods", pods.toArray(UUID[]::new))
                .query(row -> {
                    found.put(row.getObject("pod_uid", UUID.class), measured(row));
                });
        return found;
    }

    /**
     * What the pods of a budget that held a share since an instant have done altogether, as it was
     * at some moment of the last ten seconds; a pod's work before the instant is in it, for
     * counters know no dates.
     */
    public GpuTime ofBudget(String budget, Instant since) {
        return ofBudgets.get(new BudgetSince(budget, since));
    }

    private GpuTime read(BudgetSince asked) {
        return new GpuTime(
                database.sql(OF_BUDGET)
                        .param("budget", asked.budget())
                        .param("since", asked.since())
                        .query((row, number) -> row.getLong(1))
                        .single());
    }

    private static Measured measured(ResultSet row) throws SQLException {
        // A microsecond of a whole GPU is a micro-GPU-second.
        GpuTime busy = new GpuTime(row.getLong("gpu_us"));
        return new Measured(
                row.getString("meter"),
                row.getString("basis"),
                row.getString("basis_reason"),
                busy.microGpuSeconds(),
                busy.minutes(),
                row.getLong("at_most_us"),
                row.getLong("memory_bs"),
                row.getLong("covered_us"),
                row.getLong("uncovered_us"),
                row.getTimestamp("last_at").toInstant());
    }
}

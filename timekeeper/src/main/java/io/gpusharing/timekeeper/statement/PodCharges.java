package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterStatement;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.store.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/** What each pod was charged, for readers. */
@Repository
public class PodCharges {

    private static final String SELECT =
            """
            select s.*, coalesce((select sum(c.amount) from pod_charge c
                where c.cluster = s.cluster and c.pod_uid = s.pod_uid), 0)::bigint as posted
            from pod_allocation s where s.cluster = :cluster
            """;

    private static final String HELD =
            """
                        with page as (select * from pod_allocation s
             where s.cluster = :cluster and s.held_until is null and not s.allocation
            """;

    private static final String IN_ORDER = " order by s.namespace, s.name, s.pod_uid limit :size) ";

    /** What was posted is summed up for those of the page alone. */
    private static final String SUMMED =
            """
            select s.*, coalesce((select sum(c.amount) from pod_charge c
                where c.cluster = s.cluster and c.pod_uid = s.pod_uid), 0)::bigint as posted
                        from page s order by s.namespace, s.name, s.pod_uid
            """;

    private final ClusterDatabase database;

    public PodCharges(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * A pod's charge. Amounts are micro-GPU-seconds, rates and parts micro-GPUs.
     *
     * @param beginEstimated whether {@code from} comes from no clock that can be right
     * @param until end of its allocation; absent while it holds its share
     * @param endBound an estimated end lies between {@code until} and this
     * @param charged until now, or its end
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PodCharge(
            UUID uid,
            String namespace,
            String name,
            String node,
            String budget,
            long rate,
            long computePart,
            long memoryPart,
            boolean shareKnown,
            Instant from,
            boolean beginEstimated,
            @Nullable Instant until,
            boolean estimated,
            @Nullable Instant endBound,
            long charged,
            String chargedMinutes) {

        /** Micro-GPUs with which being busy is compared, whatever they cost. */
        public long busyPart() {
            return new GpuShare(computePart, memoryPart).busyPart();
        }
    }

    /** One pod as of an instant. */
    public Optional<PodCharge> of(UUID uid, Instant now) {
        return database.sql(SELECT + " and s.pod_uid = :uid")
                .param("uid", uid)
                .query((row, number) -> charge(row, now))
                .optional();
    }

    /** Pods in the order of their uids, after a uid. */
    public List<PodCharge> page(
            @Nullable String namespace, @Nullable UUID after, int size, Instant now) {
        return database.sql(
                        SELECT
                                + """
                                   and (:namespace::text is null or s.namespace = :namespace)
                                   and (:after::uuid is null or s.pod_uid > :after)
                                order by s.pod_uid limit :size
                                """)
                .param("namespace", namespace)
                .param("after", after)
                .param("size", size)
                .query((row, number) -> charge(row, now))
                .list();
    }

    /** By what pods are chosen. */
    public enum Attribute {
        NAMESPACE,
        NAME,
        NODE,
        BUDGET
    }

    /**
     * What is asked of a pod.
     *
     * @param in whether the attribute is one of the values, or none of them
     */
    public record Condition(Attribute attribute, boolean in, List<String> values) {

        private String sql(int number) {
            return " and %s (s.%s = any (:values%d))"
                    .formatted(in ? "" : "not", attribute.name().toLowerCase(Locale.ROOT), number);
        }
    }

    /** A pod in the order of namespaces and names. */
    public record Position(String namespace, String name, UUID uid) {}

    /**
     * Pods that hold a share now, by namespace and name.
     *
     * @param after the last one of the page before; null for the first page
     */
    public List<PodCharge> held(
            List<Condition> conditions, @Nullable Position after, int size, Instant now) {
        var sql = new StringBuilder(HELD);
        for (int i = 0; i < conditions.size(); i++) {
            sql.append(conditions.get(i).sql(i));
        }
        if (after != null) {
            sql.append(" and (s.namespace, s.name, s.pod_uid) > (:namespace, :name, :uid)");
        }
        ClusterStatement statement =
                database.sql(sql.append(IN_ORDER).append(SUMMED).toString()).param("size", size);
        for (int i = 0; i < conditions.size(); i++) {
            statement.texts("values" + i, conditions.get(i).values());
        }
        if (after != null) {
            statement
                    .param("namespace", after.namespace())
                    .param("name", after.name())
                    .param("uid", after.uid());
        }
        return statement.query((row, number) -> charge(row, now)).list();
    }

    private static PodCharge charge(ResultSet row, Instant now) throws SQLException {
        PodAllocation allocation = Rows.allocation(row, 0);
        GpuTime charged = new GpuTime(row.getLong("posted"));
        if (allocation.open() && allocation.postedUntil().isBefore(now)) {
            charged =
                    charged.plus(GpuTime.accrued(allocation.rate(), allocation.postedUntil(), now));
        }
        return new PodCharge(
                allocation.uid(),
                allocation.namespace(),
                allocation.name(),
                allocation.node(),
                allocation.budget(),
                allocation.rate(),
                allocation.share().compute(),
                allocation.share().memory(),
                allocation.shareKnown(),
                allocation.from(),
                allocation.beginEstimated(),
                allocation.until(),
                allocation.estimated(),
                allocation.endBound(),
                charged.microGpuSeconds(),
                charged.minutes());
    }
}

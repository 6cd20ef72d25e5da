package io.gpusharing.timekeeper.usage;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/**
 * Who held GPUs and did not use them. One query: what was held beside what the meter saw that saw
 * most of each pod; what a model costs makes nobody idle. Time that nobody measured is not called
 * idle.
 */
@Repository
public class WasteReport {

    private static final String PODS =
            """
            with allocation as (
                select s.*, coalesce(nullif(compute_part, 0), memory_part) as part, extract(epoch from coalesce(held_until, :now::timestamptz) - held_from)::bigint as seconds,
                       case when held_until is null and posted_until < :now::timestamptz
                            then (rate * extract(epoch from :now::timestamptz - posted_until))::bigint else 0 end as running
                  from pod_allocation s
                 where cluster = :cluster and held_from < :to::timestamptz
                   and (held_until is null or held_until > :from::timestamptz)
                   and (:namespace::text is null or namespace = :namespace)
                   and (:budget::text is null or budget = :budget)
            ), device as (
                select u.pod_uid, u.meter, u.device, sum(gpu_us) as gpu_us, sum(greatest(at_most_us, gpu_us)) as at_most_us,
                       sum(covered_us) as covered_us
                  from usage_counter u join allocation using (cluster, pod_uid)
                 group by u.pod_uid, u.meter, u.device
            ), meter as (
                select pod_uid, meter, sum(gpu_us)::bigint as gpu_us, sum(at_most_us)::bigint as at_most_us,
                       max(covered_us)::bigint as covered_us
                  from device group by pod_uid, meter
            ), best as (
                select distinct on (pod_uid) * from meter order by pod_uid, covered_us desc, meter
            ), posted as (
                select c.pod_uid, sum(c.amount)::bigint as amount
                  from pod_charge c join allocation using (cluster, pod_uid) group by c.pod_uid
            ), pod as (
                select s.pod_uid, s.namespace, s.name, s.owner_kind, s.owner_name, s.budget, s.rate, s.part, s.seconds,
                       s.held_from, s.part * s.seconds as held, coalesce(p.amount, 0) + s.running as charged,
                       coalesce(b.gpu_us, 0) as measured, coalesce(b.at_most_us, 0) as at_most,
                       coalesce(b.covered_us, 0) as covered_us,
                       round(s.part::numeric * least(coalesce(b.covered_us, 0), s.seconds * 1000000) / 1000000)::bigint
                           as watched, b.meter
                  from allocation s left join best b using (pod_uid) left join posted p using (pod_uid)
            )
            """;

    private static final String BY_POD =
            PODS
                    + """
                    select *, 1 as pods, greatest(watched - at_most, 0) as idle from pod
                    order by idle desc, pod_uid limit :size offset :skip
                    """;

    private static final String BY_OWNER =
            PODS
                    + """
                    select null::uuid as pod_uid, namespace, min(name) as name,
                           coalesce(owner_kind, 'Pod') as owner_kind, coalesce(owner_name, name) as owner_name,
                           min(budget) as budget, max(rate) as rate, max(part) as part, sum(seconds)::bigint as seconds,
                           min(held_from) as held_from, sum(held)::bigint as held, sum(charged)::bigint as charged,
                           sum(measured)::bigint as measured, sum(at_most)::bigint as at_most,
                           sum(covered_us)::bigint as covered_us,
                           sum(watched)::bigint as watched, string_agg(distinct meter, ',') as meter,
                           count(*) as pods, sum(greatest(watched - at_most, 0))::bigint as idle
                      from pod group by namespace, coalesce(owner_kind, 'Pod'), coalesce(owner_name, name)
                    order by idle desc, namespace, owner_kind, owner_name limit :size offset :skip
                    """;

    private final ClusterDatabase database;

    WasteReport(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * What was asked for.
     *
     * @param from pods that ended before are not in it
     * @param to pods that began later are not in it
     * @param namespace null for all
     * @param budget null for all
     */
    public record Question(
            Instant from, Instant to, @Nullable String namespace, @Nullable String budget) {}

    /**
     * A pod, or all pods of one owner, over their whole allocation: counters know no dates. Amounts
     * are micro-GPU-seconds of GPUs, whatever they cost; what was charged is of the reference
     * model.
     *
     * @param pod absent where pods are summed up, or if it is not shown to who asks
     * @param name absent if it is not shown to who asks, as are the owner's
     * @param summary the same as a sentence
     * @param rate micro-GPUs that are charged; the largest where pods are summed up
     * @param measured busy time
     * @param idle what was held and for certain not used while somebody watched: beside others who
     *     computed, what the GPU itself was idle
     * @param busyPercent of what was held while somebody watched; absent if nobody did, or it is
     *     not certain
     * @param busyAtMostPercent the most that it can have been; absent where it is certain
     * @param unwatched what was held while nobody watched
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Line(
            @Nullable UUID pod,
            String namespace,
            @Nullable String name,
            @Nullable String ownerKind,
            @Nullable String ownerName,
            String budget,
            String summary,
            long pods,
            long rate,
            long heldSeconds,
            long charged,
            long measured,
            long idle,
            long unwatched,
            String idleMinutes,
            @Nullable String busyPercent,
            @Nullable String busyAtMostPercent,
            @Nullable String meter) {

        /** The same for who may not see which pod it is. */
        Line withoutPod() {
            return new Line(
                    null,
                    namespace,
                    null,
                    null,
                    null,
                    budget,
                    // Names have no spaces.
                    (pods == 1 ? "A pod" : "Pods")
                            + " of "
                            + namespace
                            + summary.substring(summary.indexOf(" held ")),
                    pods,
                    rate,
                    heldSeconds,
                    charged,
                    measured,
                    idle,
                    unwatched,
                    idleMinutes,
                    busyPercent,
                    busyAtMostPercent,
                    meter);
        }
    }

    /**
     * Lines, most idle first.
     *
     * @param byOwner whether all pods of a Job, Deployment or StatefulSet are one line
     * @param skip how many to leave out
     */
    public List<Line> lines(Question question, boolean byOwner, Instant now, int size, long skip) {
        return database.sql(byOwner ? BY_OWNER : BY_POD)
                .param("from", question.from())
                .param("to", question.to())
                .param("namespace", question.namespace())
                .param("budget", question.budget())
                .param("now", now)
                .param("size", size)
                .param("skip", skip)
                .query((row, number) -> line(row, byOwner))
                .list();
    }

    private static Line line(ResultSet row, boolean byOwner) throws SQLException {
        long part = row.getLong("part");
        long seconds = row.getLong("seconds");
        long measured = row.getLong("measured");
        long watched = row.getLong("watched");
        long pods = row.getLong("pods");
        Busy busy = Busy.of(measured, row.getLong("at_most"), BigDecimal.valueOf(watched));
        String ownerKind = row.getString("owner_kind");
        String ownerName = row.getString("owner_name");
        String who =
                byOwner
                        ? ownerKind + " " + row.getString("namespace") + "/" + ownerName
                        : row.getString("namespace") + "/" + row.getString("name");
        String summary =
                "%s held %s for %s %s"
                        .formatted(
                                who,
                                pods == 1
                                        ? gpus(part)
                                        : "up to " + gpus(part) + " in each of " + pods + " pods",
                                time(seconds),
                                words(busy));
        return new Line(
                row.getObject("pod_uid", UUID.class),
                row.getString("namespace"),
                row.getString("name"),
                ownerKind,
                ownerName,
                row.getString("budget"),
                summary,
                pods,
                row.getLong("rate"),
                seconds,
                row.getLong("charged"),
                measured,
                row.getLong("idle"),
                Math.max(0, row.getLong("held") - watched),
                new GpuTime(row.getLong("idle")).minutes(),
                busy.percent(),
                busy.atMostPercent(),
                row.getString("meter"));
    }

    private static String words(Busy busy) {
        if (busy.percent() == null && busy.atMostPercent() == null) {
            return "and nobody measured it";
        }
        return busy.percent() != null
                ? "and was busy " + busy.percent() + " % of what was watched"
                : "beside others who computed, and was busy at most "
                        + busy.atMostPercent()
                        + " % of what was watched";
    }

    private static String gpus(long rate) {
        return GpuShare.inGpus(rate) + " GPU";
    }

    /** Minutes below an hour, else hours. */
    static String time(long seconds) {
        return seconds < 3_600 ? tenth(seconds, 60) + " min" : tenth(seconds, 3_600) + " h";
    }

    private static String tenth(long seconds, long unit) {
        return BigDecimal.valueOf(seconds)
                .divide(BigDecimal.valueOf(unit), 1, RoundingMode.HALF_EVEN)
                .toPlainString();
    }
}

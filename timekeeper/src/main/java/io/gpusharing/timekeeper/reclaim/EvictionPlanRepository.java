package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/**
 * The cluster's plans of evictions. Lists for the planner leave out what was considered, which is
 * long.
 */
interface EvictionPlanRepository extends Repository<EvictionPlan, UUID> {

    EvictionPlan save(EvictionPlan plan);

    Optional<EvictionPlan> findByNumber(long number);

    List<EvictionPlan> findByHelpedIsNull();

    @Query("select coalesce(max(p.number), 0) from EvictionPlan p")
    long lastNumber();

    @Query(
            """
            select new io.gpusharing.timekeeper.reclaim.snapshot.PastEviction(
                cast(p.number as string), p.decidedAt, p.settlesAt,
                new io.gpusharing.timekeeper.reclaim.snapshot.PodRef(
                    cast(p.waiter.uid as string), p.waiter.namespace, p.waiter.name),
                p.waiterWorkload, p.waiter.budget, v.budget, p.node, coalesce(p.helped, false))
            from EvictionPlan p join p.victims v
            where p.decidedAt > :since and (v.result is null or v.result not in (Refused, Spared))
            order by p.decidedAt
            """)
    List<PastEviction> evictionsSince(Instant since);

    @Query(
            """
            select new io.gpusharing.timekeeper.reclaim.snapshot.Refusal(
                p.decidedAt, cast(p.waiter.uid as string), p.waiterWorkload, cast(key(v) as string))
            from EvictionPlan p join p.victims v
            where p.decidedAt > :since and v.result = Refused
            order by p.decidedAt
            """)
    List<Refusal> refusalsSince(Instant since);

    /** A victim with its plan. */
    record Row(EvictionPlan plan, UUID uid, EvictionVictim victim) {}

    /** Victims, latest first, those before a victim of a plan. */
    @Query(
            """
            select new io.gpusharing.timekeeper.reclaim.EvictionPlanRepository$Row(p, key(v), v)
            from EvictionPlan p join p.victims v
            where (:namespace is null or v.namespace = :namespace or p.waiter.namespace = :namespace)
              and (cast(:pod as uuid) is null or key(v) = :pod or p.waiter.uid = :pod)
              and p.decidedAt <= :at
              and (p.decidedAt < :at or p.number < :number or p.number = :number and key(v) < :victim)
            order by p.decidedAt desc, p.number desc, key(v) desc
            """)
    List<Row> victimsBefore(
            Instant at,
            long number,
            UUID victim,
            @Nullable String namespace,
            @Nullable UUID pod,
            Limit limit);
}

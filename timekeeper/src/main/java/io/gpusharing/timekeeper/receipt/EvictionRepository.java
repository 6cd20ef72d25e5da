package io.gpusharing.timekeeper.receipt;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface EvictionRepository extends Repository<Eviction, UUID> {

    Eviction save(Eviction eviction);

    Optional<Eviction> findByUid(UUID uid);

    /** A victim with its eviction. */
    record Row(Eviction eviction, UUID uid, EvictionVictim victim) {}

    /**
     * Victims, latest first, those after a victim of an eviction.
     *
     * @param everywhere whether the namespaces do not matter
     * @param namespaces of victim or waiter
     * @param pod victim or waiter; null for all
     */
    @Query(
            """
            select new io.gpusharing.timekeeper.receipt.EvictionRepository$Row(e, key(v), v)
            from Eviction e join e.victims v
            where (:everywhere = true or v.namespace in :namespaces or e.waiter.namespace in :namespaces)
              and (cast(:pod as uuid) is null or key(v) = :pod or e.waiter.uid = :pod)
              and e.decidedAt <= :at
              and (e.decidedAt < :at or e.uid < :eviction or e.uid = :eviction and key(v) < :victim)
            order by e.decidedAt desc, e.uid desc, key(v) desc
            """)
    List<Row> victimsAfter(
            Instant at,
            UUID eviction,
            UUID victim,
            boolean everywhere,
            Collection<String> namespaces,
            @Nullable UUID pod,
            Limit limit);
}

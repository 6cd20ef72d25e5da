package io.gpusharing.timekeeper.provider;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface NotStartedEvictionRepository extends Repository<NotStartedEviction, UUID> {

    NotStartedEviction save(NotStartedEviction eviction);

    @Query("select e from NotStartedEviction e where e.victim.uid = :pod")
    Optional<NotStartedEviction> of(UUID pod);

    /** Latest first, those that come after a receipt; none of them has the number of a plan. */
    @Query(
            """
            select e from NotStartedEviction e
            where (:namespace is null or e.victim.namespace = :namespace)
              and (cast(:pod as uuid) is null or e.victim.uid = :pod)
              and e.decidedAt <= :at
              and (e.decidedAt < :at or :number > 0 or e.victim.uid < :victim)
            order by e.decidedAt desc, e.victim.uid desc
            """)
    List<NotStartedEviction> before(
            Instant at,
            long number,
            UUID victim,
            @Nullable String namespace,
            @Nullable UUID pod,
            Limit limit);
}

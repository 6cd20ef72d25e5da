package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Pod;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.MapKeyColumn;
import jakarta.persistence.Version;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.hibernate.annotations.EmbeddedColumnNaming;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.annotations.TenantId;
import org.hibernate.type.SqlTypes;
import org.jspecify.annotations.Nullable;

/**
 * Evictions for a waiter on one node: which pods were to go, who was considered, whether it helped.
 */
@Entity
class EvictionPlan {

    @Id @GeneratedValue private @Nullable UUID id;

    @Column @TenantId private @Nullable String cluster;

    /** Counts the cluster's plans from 1 on, without a gap. */
    long number;

    @Version private @Nullable Long version;

    @Embedded
    @EmbeddedColumnNaming("waiter_%s")
    Pod waiter;

    @Column private String waiterWorkload;
    Instant waiterSince;

    /** Where the waiter fits when the victims are gone. */
    String node;

    Instant decidedAt;

    /** By when the waiter should be bound. */
    Instant settlesAt;

    /** All pods that were considered, and why they were spared, as JSON. */
    @JdbcTypeCode(SqlTypes.JSON)
    String considered;

    /** Whether the waiter was bound in time where room was made; null while that is open. */
    @Nullable Boolean helped;

    /** The same in words. */
    String outcome = "";

    @Column private @Nullable Instant settledAt;

    @ElementCollection
    @CollectionTable(name = "eviction_victim", joinColumns = @JoinColumn(name = "plan"))
    @MapKeyColumn(name = "uid")
    private Map<UUID, EvictionVictim> victims = new HashMap<>();

    protected EvictionPlan() {}

    EvictionPlan(
            long number,
            Pod waiter,
            String waiterWorkload,
            Instant waiterSince,
            String node,
            Instant decidedAt,
            Instant settlesAt,
            String considered,
            Map<UUID, EvictionVictim> victims) {
        this.number = number;
        this.waiter = waiter;
        this.waiterWorkload = waiterWorkload;
        this.waiterSince = waiterSince;
        this.node = node;
        this.decidedAt = decidedAt;
        this.settlesAt = settlesAt;
        this.considered = considered;
        this.victims.putAll(victims);
    }

    /**
     * Notes what became of a victim's eviction. When none of them was evicted, the plan cannot help
     * any more.
     */
    void record(UUID victim, Result result, String detail) {
        victims.computeIfPresent(victim, (uid, it) -> it.with(result, detail));
        if (victims.values().stream().allMatch(EvictionVictim::remained)) {
            settle(EvictionVictim.REMAINED, decidedAt);
        }
    }

    void settle(Outcome outcome, Instant at) {
        this.helped = outcome.helped();
        this.outcome = outcome.detail();
        this.settledAt = at;
    }
}

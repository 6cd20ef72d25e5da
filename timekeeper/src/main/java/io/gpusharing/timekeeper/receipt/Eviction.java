package io.gpusharing.timekeeper.receipt;

import static io.gpusharing.kubernetes.PodReader.storable;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Candidate;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.timekeeper.receipt.EvictionReceipts.Pod;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.MapKeyColumn;
import jakarta.persistence.Version;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.hibernate.annotations.EmbeddedColumnNaming;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.annotations.TenantId;
import org.hibernate.type.SqlTypes;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** What a {@code GpuEviction} said, for when the object is gone. */
@Entity
class Eviction {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    @Id @GeneratedValue private @Nullable UUID id;

    @Column @TenantId private @Nullable String cluster;

    /** The object's. */
    UUID uid;

    @Version private @Nullable Long version;

    @Enumerated(EnumType.STRING)
    Cause cause;

    @Enumerated(EnumType.STRING)
    Phase phase;

    Instant decidedAt;

    /** Where the waiter fits when the victims are gone; where the victim is, without a waiter. */
    String node;

    @Embedded
    @EmbeddedColumnNaming("waiter_%s")
    @Nullable Pod waiter;

    @Nullable Instant waiterSince;

    /** Whom the plan could have taken instead, as JSON; null where nobody was compared. */
    @JdbcTypeCode(SqlTypes.JSON)
    @Nullable String considered;

    /** Why nobody goes, a sentence; empty if that was not said. */
    String reason = "";

    /** Whether the waiter was bound in time where room was made; null while that is open. */
    @Nullable Boolean helped;

    /** The same in words. */
    String outcome = "";

    @ElementCollection
    @CollectionTable(name = "eviction_victim", joinColumns = @JoinColumn(name = "eviction"))
    @MapKeyColumn(name = "uid")
    private Map<UUID, EvictionVictim> victims = new HashMap<>();

    protected Eviction() {}

    /**
     * @param plan not of {@link Phase#Asked}: nothing has been done for it
     */
    Eviction(EvictionPlan plan, NamespaceBudgets budgets) {
        GpuEviction.Spec spec = plan.object().getSpec();
        this.uid = UUID.fromString(plan.uid());
        this.cause = plan.cause();
        this.phase = phase(plan);
        this.decidedAt = plan.created();
        this.node = spec.node();
        GpuEviction.Waiter waiting = spec.waiter();
        if (waiting != null) {
            this.waiter =
                    new Pod(
                            UUID.fromString(waiting.uid()),
                            waiting.namespace(),
                            waiting.name(),
                            Objects.requireNonNullElseGet(
                                    waiting.budget(), () -> budgets.name(waiting.namespace())));
            this.waiterSince = ApiTime.readPresent(waiting.since());
        }
        this.considered = spec.considered() == null ? null : json(spec.considered());
        plan.victims()
                .forEach(it ->
                        victims.put(UUID.fromString(it.uid()), EvictionVictim.of(it, budgets)));
        follow(plan);
    }

    /** While nobody has followed a preemption yet, kube-scheduler may have done it. */
    static Phase phase(EvictionPlan plan) {
        return plan.phase() == Phase.Asked && plan.cause() == Cause.Preemption
                ? Phase.Planned
                : plan.phase();
    }

    /** Notes how far it has come. What another replica has noted already of a later state stays. */
    final void follow(EvictionPlan plan) {
        GpuEviction.Status status = plan.object().getStatus();
        GpuEviction.Outcome settled = status == null ? null : status.outcome();
        if (progress(phase(plan), settled != null) < progress(phase, helped != null)) {
            return;
        }
        phase = phase(plan);
        plan.answers()
                .forEach(it ->
                        victims.computeIfPresent(
                                UUID.fromString(it.uid()), (_, victim) -> victim.with(it)));
        if (status != null && status.reason() != null) {
            reason = status.reason();
        }
        if (settled != null) {
            helped = settled.helped();
            outcome = settled.detail();
        }
    }

    /** One that is refused is planned again, with an answer in the end. */
    private static int progress(Phase phase, boolean settled) {
        return switch (phase) {
            case Asked -> 0;
            case Planned -> 1;
            case Refused -> 2;
            case Done, NotDone -> settled ? 4 : 3;
        };
    }

    /** In JSON, a character that no database holds is an escape. */
    private static String json(Considered considered) {
        var spared = new LinkedHashMap<String, Integer>();
        considered.spared().forEach((why, pods) -> spared.merge(storable(why), pods, Integer::sum));
        return JSON.writeValueAsString(
                new Considered(
                        spared,
                        considered.nearest().stream()
                                .map(it ->
                                        new Candidate(
                                                storable(it.namespace()),
                                                storable(it.name()),
                                                storable(it.uid()),
                                                storable(it.node()),
                                                it.budget() == null ? null : storable(it.budget()),
                                                it.spared() == null ? null : storable(it.spared())))
                                .toList()));
    }
}

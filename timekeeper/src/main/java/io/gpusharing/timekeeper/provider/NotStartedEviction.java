package io.gpusharing.timekeeper.provider;

import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Cause;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Pod;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.ReceiptCursor;
import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.hibernate.annotations.EmbeddedColumnNaming;
import org.hibernate.annotations.TenantId;
import org.jspecify.annotations.Nullable;

/** The eviction of a pod that our device plugin did not let start. */
@Entity
class NotStartedEviction {

    @Id @GeneratedValue private @Nullable UUID id;

    @Column @TenantId private @Nullable String cluster;

    @Embedded
    @EmbeddedColumnNaming("victim_%s")
    Pod victim;

    @Column private String node;
    @Column private Instant decidedAt;
    @Column private Instant waitedSince;
    @Column private boolean isFinal;
    @Column private boolean ran;
    @Column private String reason;

    @Enumerated(EnumType.STRING)
    @Column
    private EvictionApi.@Nullable Result result;

    @Column private String resultDetail = "";

    protected NotStartedEviction() {}

    NotStartedEviction(RefusedStart start, String budget, Instant now) {
        this.victim = new Pod(start.pod(), start.namespace(), start.name(), budget);
        this.decidedAt = now;
        because(start);
    }

    /** What is known of it at a further attempt. */
    final void because(RefusedStart start) {
        this.node = start.node();
        this.waitedSince = start.since();
        this.isFinal = start.isFinal();
        this.ran = start.ran();
        this.reason = start.reason();
    }

    void answered(EvictionApi.Answer answer) {
        this.result = answer.result();
        this.resultDetail = answer.detail();
    }

    /**
     * The pod waits no more. Where the API server's answer did not arrive, or could not be written
     * down, it was evicted; where it had refused that, the pod has gone by itself.
     */
    void close() {
        if (result == null) {
            result = EvictionApi.Result.Ended;
        } else if (result == EvictionApi.Result.Refused) {
            result = EvictionApi.Result.Gone;
        }
    }

    Receipt receipt() {
        return new Receipt(
                decidedAt,
                Cause.NotStarted,
                victim,
                null,
                null,
                node,
                "%s/%s of budget %s %s %s, whose device plugin %s: %s"
                        .formatted(
                                victim.namespace(),
                                victim.name(),
                                victim.budget(),
                                did(),
                                node,
                                (isFinal
                                                ? "can never let %s start"
                                                : "had not let %s start since "
                                                        + waitedSince.truncatedTo(
                                                                ChronoUnit.SECONDS))
                                        .formatted(ran ? "a container of it" : "it"),
                                reason),
                reason,
                null,
                null,
                null,
                result(),
                resultDetail.isEmpty() ? null : resultDetail,
                null,
                null,
                new ReceiptCursor(decidedAt, 0, victim.uid()));
    }

    private String did() {
        return switch (result) {
            case Ended -> "was evicted from";
            case Gone -> "had gone already when it was to be evicted from";
            case Refused -> "was to be evicted from";
            case null -> "was to be evicted from";
        };
    }

    private String result() {
        return switch (result) {
            case Ended -> "Evicted";
            case Gone -> "Gone";
            case Refused -> "Refused";
            case null -> "Planned";
        };
    }
}

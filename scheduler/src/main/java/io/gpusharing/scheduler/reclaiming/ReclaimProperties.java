package io.gpusharing.scheduler.reclaiming;

import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.picture.reading.SchedulerReach;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * When and how carefully room is made for pods in budget.
 *
 * @param paused whether nothing is evicted at all; at run time the annotation {@code
 *     gpusharing.io/reclaim-paused: "true"} does the same, on our own namespace for everything, on
 *     a GpuBudget for its pods
 * @param patience how long a pod must have been unschedulable before anything is done for it
 * @param schedulerPatience for how long the scheduler is trusted to preempt what it can preempt
 * @param check how often waiting pods are looked for
 * @param settle how long after the victims' grace the waiter may take to be bound; the first pause
 *     of the back-off, too
 * @param maxPerMinute evictions in any minute; a gang that is larger goes alone
 * @param noReturn for how long after an eviction of budget A for budget B nothing of B is evicted
 *     for A
 * @param maxGrace no victim is given longer than this to end, and no pod that ends is waited for
 *     longer
 * @param insistAfter how long a PodDisruptionBudget may keep a victim that a waiter needs; then it
 *     is deleted with its grace, past the Eviction API, and an Event says so. Absent for ever. Our
 *     service account then needs the right to delete pods
 * @param reserve whether our own scheduler places pods, and keeps room for whom others are evicted
 */
@Validated
@ConfigurationProperties("gpusharing.reclaim")
public record ReclaimProperties(
        @DefaultValue("false") boolean paused,
        @DefaultValue("10s") Duration patience,
        @DefaultValue("1m") Duration schedulerPatience,
        @DefaultValue("1s") Duration check,
        @DefaultValue("1m") Duration settle,
        @Positive @DefaultValue("10") int maxPerMinute,
        @DefaultValue("24h") Duration noReturn,
        @DefaultValue("5m") Duration maxGrace,
        @Nullable Duration insistAfter,
        @DefaultValue("false") boolean reserve) {

    ReadingSettings reading(
            String ownNamespace,
            Gangs gangs,
            SchedulerName scheduler,
            PodSharing sharing,
            int overBudgetPriority) {
        return new ReadingSettings(
                ownNamespace,
                settle,
                maxGrace,
                gangs,
                new SchedulerReach(reserve, scheduler),
                sharing,
                overBudgetPriority);
    }

    /** How far back what was done and refused has a bearing on what is done next. */
    public Duration lookBack() {
        Duration patience = insistAfter == null ? Duration.ZERO : insistAfter;
        return Stream.of(noReturn, patience)
                .max(Duration::compareTo)
                .orElseThrow()
                .plus(Duration.ofDays(1));
    }

    /**
     * By what a plan is made.
     *
     * @param pausedNow whether an administrator has stopped everything at run time
     */
    public Rules rules(boolean pausedNow) {
        return new Rules(
                patience,
                schedulerPatience,
                settle,
                maxPerMinute,
                noReturn,
                maxGrace,
                insistAfter,
                paused || pausedNow);
    }
}

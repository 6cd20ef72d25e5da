package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.scheduler.pods.Gangs;
import java.time.Duration;

/**
 * How a snapshot is read.
 *
 * @param ownNamespace where we run: its annotation pauses everything
 * @param settle how long after its grace a pod that is being deleted still counts as leaving
 * @param maxGrace a pod that is being deleted and has longer than this does not count as leaving
 * @param gangs which pods go together
 * @param reach which nodes the schedulers of waiting pods can use
 * @param sharing how pods share GPUs
 * @param overBudgetPriority of the class that pods get when they are admitted over budget
 */
public record ReadingSettings(
        String ownNamespace,
        Duration settle,
        Duration maxGrace,
        Gangs gangs,
        SchedulerReach reach,
        PodSharing sharing,
        int overBudgetPriority) {}

package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.kubernetes.PodSharing;
import java.time.Duration;

/**
 * How a snapshot is read.
 *
 * @param ownNamespace where we run: its annotation pauses everything
 * @param settle how long after its grace a pod that is being deleted still counts as leaving
 * @param maxGrace a pod that is being deleted and has longer than this does not count as leaving
 * @param gangLabel label whose value names a gang; empty for none
 * @param reserve whether our own scheduler keeps room for pods that wait
 * @param sharing how pods share GPUs
 */
public record ReadingSettings(
        String ownNamespace,
        Duration settle,
        Duration maxGrace,
        String gangLabel,
        boolean reserve,
        PodSharing sharing) {}

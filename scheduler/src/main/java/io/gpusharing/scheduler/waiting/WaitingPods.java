package io.gpusharing.scheduler.waiting;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.gpus.PodNews;
import io.gpusharing.web.Parts;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Tells pods that wait why, and when there is room, by a condition.
 *
 * <p>kube-scheduler tries a pod again when something happens in the cluster, and else after five
 * minutes. When a device plugin takes back what an ended pod held, or a reservation expires,
 * nothing happens in its eyes. A condition of the pod that is written then is something. So is one
 * that says why it waits, and therefore that is written seldom.
 */
@Component
class WaitingPods {

    private static final Logger log = LoggerFactory.getLogger(WaitingPods.class);

    /** One room is taken by one pod: to wake hundreds for it would be for nothing. */
    private static final int AT_ONCE = 10;

    private static final int ROUNDS = 5;

    private static final int NOT_FOUND = 404;

    private final KubernetesClient client;
    private final ClusterGpus gpus;
    private final Clock clock;
    private final Rounds waking;
    private final Rounds telling;

    WaitingPods(KubernetesClient client, ClusterGpus gpus, Parts parts, Clock clock) {
        this.client = PromptClient.of(client);
        this.gpus = gpus;
        this.waking = parts.part("waking");
        this.telling = parts.part("telling");
        this.clock = clock;
    }

    /** What became of a condition. */
    private enum Written {
        Yes,
        /** The API server does not take it of this pod, as it does not of one that is too large. */
        Never,
        /** No other pod's would be taken, either. */
        NotNow
    }

    /** Wakes some of those for which there is room. */
    @Scheduled(fixedDelay = 1_000)
    void wake() {
        waking.run(this::wakeSome);
    }

    private void wakeSome() {
        // Not all in one: nobody is placed meanwhile.
        for (int round = 0; round < ROUNDS; round++) {
            for (GpuPod pod : gpus.wakeable(AT_ONCE, clock.instant())) {
                Written written =
                        write(
                                pod,
                                "False",
                                "RoomFound",
                                "There may be room for it now; it is being scheduled again");
                if (written == Written.NotNow) {
                    // Maybe it is this one alone, whose owner has made it slow to write.
                    gpus.notWoken(pod.uid());
                    return;
                }
                // One that cannot be told would be the first of every round; kube-scheduler tries
                // it by itself after five minutes.
                gpus.woken(pod.uid(), clock.instant());
            }
        }
    }

    /**
     * Tells some of those that wait for a while why they do, and those that were placed at last.
     */
    @Scheduled(fixedDelay = 1_000)
    void tell() {
        telling.run(this::tellSome);
    }

    private void tellSome() {
        for (PodNews news : gpus.news(AT_ONCE, clock.instant())) {
            Written written =
                    news.placed()
                            ? write(
                                    news.pod(),
                                    "True",
                                    "Placed",
                                    "It was placed on GPUs with enough room for it")
                            : write(news.pod(), "False", "NoRoom", news.text());
            if (written == Written.Yes) {
                gpus.told(news, clock.instant());
                continue;
            }
            gpus.failed(news, clock.instant());
            if (written == Written.NotNow) {
                return;
            }
        }
    }

    private Written write(GpuPod pod, String status, String reason, String message) {
        try {
            patch(pod, status, reason, message);
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND) {
                log.atWarn()
                        .addKeyValue("pod", pod.namespace() + "/" + pod.name())
                        .addKeyValue("condition", reason)
                        .addKeyValue("reason", e.getMessage())
                        .log("cannot write a condition of a pod; trying again");
                return OutageLog.isOutageForAll(e) ? Written.NotNow : Written.Never;
            }
            gpus.forget(pod.uid());
        }
        return Written.Yes;
    }

    private void patch(GpuPod pod, String status, String reason, String message) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        client.pods()
                .inNamespace(pod.namespace())
                .withName(pod.name())
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.STRATEGIC_MERGE),
                        """
                        {"metadata": {"uid": "%s"},
                         "status": {"conditions": [{"type": "%s", "status": "%s", "reason": "%s",
                           "lastProbeTime": "%s", "lastTransitionTime": "%5$s", "message": "%s"}]}}
                        """
                                .formatted(
                                        pod.uid(),
                                        Names.PLACEMENT_CONDITION,
                                        status,
                                        reason,
                                        now,
                                        message));
    }
}

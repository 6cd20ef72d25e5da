package io.gpusharing.timekeeper.usage.intake;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.UsageReport.Unasked;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Events of pods that use a GPU that they were not given: with {@code
 * NVIDIA_VISIBLE_DEVICES} set, or by an image that sets it, many container runtimes hand out GPUs
 * that kubelet knows nothing of. Nobody is charged for that use, so it is said on the pod, once an
 * hour.
 *
 * <p>A node agent is believed only about pods of its own node, and the API server is asked before
 * anything is said: a pod with a resource claim did ask, and the software of the node itself, an
 * MPS server for instance, need not. A pod with a share asked for some GPU, so of it is said only
 * that it uses a certain other one, which an agent knows where our device plugin hands them out.
 */
final class UnrequestedGpuUse {

    private static final Logger log = LoggerFactory.getLogger(UnrequestedGpuUse.class);
    private static final Duration AGAIN_AFTER = Duration.ofHours(1);

    private static final String WITHOUT_A_SHARE =
            "It uses %s but asked for no GPU, so nobody is charged. Ask for a share, or set NVIDIA_VISIBLE_DEVICES=void in its containers.";

    private static final String BESIDE_ITS_SHARE =
            "It uses %s, which it was not given, beside what it asked for, so nobody is charged for that. Take NVIDIA_VISIBLE_DEVICES, privileged mode and devices of the node out of its containers.";

    private final KubernetesClient client;
    private final Events events;
    private final Executor background;
    private final Map<UUID, Instant> notified = new ConcurrentHashMap<>();

    /**
     * @param background runs what asks the API server, so that no report waits for it
     */
    UnrequestedGpuUse(KubernetesClient client, Executor background) {
        this.client = client;
        this.events = new Events(client, Names.TIMEKEEPER);
        this.background = background;
    }

    /** Writes of those pods of a report that nothing was said about in the last hour. */
    void note(Delivery delivery) {
        String node = delivery.reporter().node();
        if (delivery.report().meter() != Meter.Agent || node == null) {
            return;
        }
        Instant now = delivery.at();
        notified.values().removeIf(at -> at.plus(AGAIN_AFTER).isBefore(now));
        for (Unasked pod : delivery.report().unasked()) {
            if (notified.putIfAbsent(pod.uid(), now) == null) {
                String devices =
                        pod.devices().isEmpty()
                                ? devices(delivery.report(), pod.uid())
                                : pod.devices().stream().sorted().collect(Collectors.joining(", "));
                background.execute(() -> write(pod, devices, node, now));
            }
        }
    }

    private static String devices(UsageReport report, UUID uid) {
        return report.pods().stream()
                .filter(pod -> pod.uid().equals(uid))
                .map(PodUse::devices)
                .flatMap(devices -> devices.stream().map(DeviceUse::uuid))
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private void write(Unasked unasked, String devices, String node, Instant now) {
        try {
            Pod pod = client.pods().inNamespace(unasked.namespace()).withName(unasked.pod()).get();
            if (pod == null || !isThatPod(pod, unasked, node) || isOfTheNode(pod)) {
                return;
            }
            boolean share = hasShare(pod);
            if (!hasClaim(pod) && (!share || !unasked.devices().isEmpty())) {
                log.atWarn()
                        .addKeyValue("pod", unasked.namespace() + "/" + unasked.pod())
                        .addKeyValue("node", node)
                        .addKeyValue("devices", devices)
                        .log("a GPU is used without a request");
                events.write(
                        Events.pod(unasked.namespace(), unasked.pod(), unasked.uid().toString()),
                        "%x".formatted(now.toEpochMilli()),
                        new Text(
                                Events.Type.Warning,
                                "GpuUsedWithoutRequest",
                                "Meter",
                                (share ? BESIDE_ITS_SHARE : WITHOUT_A_SHARE)
                                        .formatted(devices.isEmpty() ? "a GPU" : devices)),
                        now);
            }
        } catch (KubernetesClientException e) {
            // Said again with one of the next reports.
            notified.remove(unasked.uid());
            log.atWarn()
                    .addKeyValue("pod", unasked.namespace() + "/" + unasked.pod())
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write an Event about a GPU used without a request");
        }
    }

    private static boolean isThatPod(Pod pod, Unasked unasked, String node) {
        return unasked.uid().toString().equals(pod.getMetadata().getUid())
                && node.equals(pod.getSpec().getNodeName());
    }

    private static boolean hasShare(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        return labels != null && "true".equals(labels.get(Names.METERED_LABEL));
    }

    private static boolean hasClaim(Pod pod) {
        return !pod.getSpec().getResourceClaims().isEmpty();
    }

    private static boolean isOfTheNode(Pod pod) {
        return "system-node-critical".equals(pod.getSpec().getPriorityClassName());
    }
}

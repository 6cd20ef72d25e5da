package io.gpusharing.timekeeper.usage.intake;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toMap;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.timekeeper.usage.MemoryExcessLog;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.UsageReport.Unasked;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Events of what a node agent found of pods of its node, each once an hour. It is believed
 * only about those, and the API server is asked before anything is said.
 *
 * <p>One is that a pod uses a GPU that it was not given: with {@code NVIDIA_VISIBLE_DEVICES} set,
 * or by an image that sets it, many container runtimes hand out GPUs that kubelet knows nothing of.
 * Nobody is charged for that use. A pod with a resource claim did ask, and the software of the node
 * itself, an MPS server for instance, need not. A pod with a share asked for some GPU, so of it is
 * said only that it uses a certain other one, which an agent knows where our device plugin hands
 * them out.
 *
 * <p>The other is that a pod holds more memory of a GPU than our device plugin gave it, over all
 * its processes: where nothing limits it the others on the GPU are short of it.
 */
final class AgentFindings {

    private static final Logger log = LoggerFactory.getLogger(AgentFindings.class);
    private static final Duration AGAIN_AFTER = Duration.ofHours(1);

    private static final String WITHOUT_A_SHARE =
            "It uses %s but asked for no GPU, so nobody is charged. Ask for a share, or set NVIDIA_VISIBLE_DEVICES=void in its containers.";

    private static final String BESIDE_ITS_SHARE =
            "It uses %s, which it was not given, beside what it asked for, so nobody is charged for that. Take NVIDIA_VISIBLE_DEVICES, privileged mode and devices of the node out of its containers.";

    private final KubernetesClient client;
    private final Events events;
    private final Executor background;
    private final MemoryExcessLog excesses;
    private final NodeWrites writes;

    /** When it was said last. */
    private final Map<Finding, Instant> said = new ConcurrentHashMap<>();

    private enum What {
        Unasked,
        Memory
    }

    private record Finding(UUID pod, What what) {}

    /**
     * @param background runs what asks the API server, so that no report waits for it
     */
    AgentFindings(KubernetesClient client, MemoryExcessLog excesses, Executor background) {
        this.client = client;
        this.excesses = excesses;
        this.events = new Events(client, Names.TIMEKEEPER);
        this.background = background;
        this.writes = new NodeWrites("who holds more GPU memory than was given", background);
    }

    /** Writes of those pods of a report that nothing was said about in the last hour. */
    void note(Delivery delivery) {
        String node = delivery.reporter().node();
        UsageReport report = delivery.report();
        if (report.meter() != Meter.Agent || node == null) {
            return;
        }
        Instant now = delivery.at();
        said.values().removeIf(at -> at.plus(AGAIN_AFTER).isBefore(now));
        for (Unasked found : report.unasked()) {
            note(
                    new Finding(found.uid(), What.Unasked),
                    found.namespace(),
                    found.pod(),
                    node,
                    now,
                    pod -> unasked(pod, found, report));
        }
        report.exceeded().stream()
                .collect(groupingBy(MemoryExceeded::uid, LinkedHashMap::new, toList()))
                .forEach((uid, found) ->
                        note(
                                new Finding(uid, What.Memory),
                                found.getFirst().namespace(),
                                found.getFirst().pod(),
                                node,
                                now,
                                pod -> exceeded(pod, found)));
        remember(delivery, node);
    }

    /** Of each pod the GPU of which it holds most too much. */
    private void remember(Delivery delivery, String node) {
        if (!excesses.isWanted()) {
            return;
        }
        List<MemoryExceeded> pods =
                delivery.report().exceeded().stream()
                        // Of pods of its own node: those were looked at already.
                        .filter(pod -> delivery.pods().containsKey(pod.uid()))
                        .collect(
                                toMap(
                                        MemoryExceeded::uid,
                                        pod -> pod,
                                        BinaryOperator.maxBy(
                                                Comparator.comparingLong(AgentFindings::tooMuch))))
                        .values()
                        .stream()
                        .toList();
        writes.write(node, () -> excesses.reported(node, pods, delivery.at()));
    }

    private static long tooMuch(MemoryExceeded pod) {
        return pod.usedBytes() - pod.grantedBytes();
    }

    private void note(
            Finding finding,
            String namespace,
            String name,
            String node,
            Instant now,
            Function<Pod, Optional<Text>> text) {
        if (said.putIfAbsent(finding, now) == null) {
            background.execute(() -> write(finding, namespace, name, node, now, text));
        }
    }

    private void write(
            Finding finding,
            String namespace,
            String name,
            String node,
            Instant now,
            Function<Pod, Optional<Text>> text) {
        String uid = finding.pod().toString();
        try {
            Pod pod = client.pods().inNamespace(namespace).withName(name).get();
            if (pod == null
                    || !uid.equals(pod.getMetadata().getUid())
                    || !node.equals(pod.getSpec().getNodeName())
                    || isOfTheNode(pod)) {
                return;
            }
            text.apply(pod)
                    .ifPresent(event -> {
                        log.atWarn()
                                .addKeyValue("pod", namespace + "/" + name)
                                .addKeyValue("node", node)
                                .addKeyValue("reason", event.reason())
                                .log(event.message());
                        events.write(
                                Events.pod(namespace, name, uid),
                                "%s-%x"
                                        .formatted(
                                                event.reason().toLowerCase(Locale.ROOT),
                                                now.toEpochMilli()),
                                event,
                                now);
                    });
        } catch (KubernetesClientException e) {
            // Said again with one of the next reports.
            said.remove(finding);
            log.atWarn()
                    .addKeyValue("pod", namespace + "/" + name)
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write an Event about what a node agent found");
        }
    }

    private static Optional<Text> unasked(Pod pod, Unasked found, UsageReport report) {
        boolean share = hasShare(pod);
        if (hasClaim(pod) || (share && found.devices().isEmpty())) {
            return Optional.empty();
        }
        String devices =
                found.devices().isEmpty()
                        ? devices(report, found.uid())
                        : found.devices().stream().sorted().collect(joining(", "));
        return Optional.of(
                warning(
                        "GpuUsedWithoutRequest",
                        (share ? BESIDE_ITS_SHARE : WITHOUT_A_SHARE)
                                .formatted(devices.isEmpty() ? "a GPU" : devices)));
    }

    private static String devices(UsageReport report, UUID uid) {
        return report.pods().stream()
                .filter(pod -> pod.uid().equals(uid))
                .map(PodUse::devices)
                .flatMap(devices -> devices.stream().map(DeviceUse::uuid))
                .sorted()
                .collect(joining(", "));
    }

    private static Optional<Text> exceeded(Pod pod, List<MemoryExceeded> found) {
        return hasShare(pod)
                ? Optional.of(
                        warning(
                                "GpuMemoryExceeded",
                                "It holds %s. Others on the GPU may find none. Ask for more memory, or let its programs take less."
                                        .formatted(
                                                found.stream()
                                                        .sorted(
                                                                Comparator.comparing(
                                                                        MemoryExceeded::device))
                                                        .map(it ->
                                                                "%d MiB of %s and was given %d"
                                                                        .formatted(
                                                                                it.usedBytes()
                                                                                        >> 20,
                                                                                it.device(),
                                                                                it.grantedBytes()
                                                                                        >> 20))
                                                        .collect(joining(", ")))))
                : Optional.empty();
    }

    private static Text warning(String reason, String message) {
        return new Text(Events.Type.Warning, reason, "Meter", message);
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

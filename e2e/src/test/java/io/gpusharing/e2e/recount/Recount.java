package io.gpusharing.e2e.recount;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Computes every pod's bill from the audit log, by the rules of docs/accounting: from PodScheduled
 * to the latest {@code finishedAt} of its own containers, or, where it was removed without a
 * terminal phase, to the later of that and its deletion; charged by the larger of its compute and
 * its memory part of a GPU.
 */
public final class Recount {

    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";
    private static final BigDecimal MICRO = BigDecimal.valueOf(1_000_000);

    private Recount() {}

    /**
     * The bills of all pods that asked for GPUs and were placed, by UID, in the order of their
     * creation.
     */
    public static Map<String, PodBill> of(Path auditLog) {
        var log = AuditLog.read(auditLog);
        var nodes = new HashMap<String, JsonNode>();
        log.nodes().forEach(node -> nodes.put(node.at("/metadata/name").asText(), node));

        var states = new LinkedHashMap<String, List<JsonNode>>();
        for (JsonNode pod : log.pods()) {
            states.computeIfAbsent(pod.at("/metadata/uid").asText(), uid -> new ArrayList<>())
                    .add(pod);
        }
        var bills = new LinkedHashMap<String, PodBill>();
        states.forEach((uid, pods) -> {
            // Answers are logged when they are given, which is not always the order of the writes.
            pods.sort((a, b) -> Long.compare(version(a), version(b)));
            bill(pods, nodes).ifPresent(bill -> bills.put(uid, bill));
        });
        return bills;
    }

    private static Optional<PodBill> bill(List<JsonNode> states, Map<String, JsonNode> nodes) {
        JsonNode last = states.getLast();
        Instant from = begin(states);
        JsonNode node = nodes.get(last.at("/spec/nodeName").asText());
        if (from == null || node == null) {
            return Optional.empty();
        }
        BigDecimal micros = share(last.path("spec"), node.at("/status/capacity"));
        if (micros.signum() == 0) {
            return Optional.empty();
        }
        return Optional.of(
                new PodBill(
                        last.at("/metadata/uid").asText(),
                        last.at("/metadata/namespace").asText(),
                        last.at("/metadata/name").asText(),
                        micros.longValueExact(),
                        from,
                        end(last)));
    }

    /** The first that is told: a kubelet that rejects a pod writes its conditions anew. */
    private static @Nullable Instant begin(List<JsonNode> states) {
        for (JsonNode pod : states) {
            Instant scheduled = scheduled(pod);
            if (scheduled != null) {
                return scheduled;
            }
        }
        JsonNode started = states.getLast().at("/status/startTime");
        return started.isTextual() ? Instant.parse(started.asText()) : null;
    }

    private static @Nullable Instant scheduled(JsonNode pod) {
        return pod.at("/status/conditions")
                .valueStream()
                .filter(condition -> condition.path("type").asText().equals("PodScheduled"))
                .filter(condition -> condition.path("status").asText().equals("True"))
                .map(condition -> Instant.parse(condition.path("lastTransitionTime").asText()))
                .findFirst()
                .orElse(null);
    }

    private static @Nullable Instant end(JsonNode pod) {
        Instant own = finished(pod, false);
        Instant meter = finished(pod, true);
        Instant finished =
                own == null || (meter != null && meter.isAfter(own.plusSeconds(60))) ? meter : own;
        String phase = pod.at("/status/phase").asText();
        if (phase.equals("Succeeded") || phase.equals("Failed")) {
            return finished;
        }
        // The answer to the removal is the last state: with no grace left, its deletion is the
        // removal itself.
        boolean removed =
                pod.at("/metadata/deletionTimestamp").isTextual()
                        && pod.at("/metadata/deletionGracePeriodSeconds").asInt(-1) == 0;
        if (!removed) {
            return null;
        }
        Instant deletion = Instant.parse(pod.at("/metadata/deletionTimestamp").asText());
        return finished == null || finished.isBefore(deletion) ? deletion : finished;
    }

    private static @Nullable Instant finished(JsonNode pod, boolean meter) {
        JsonNode sidecar = pod.at("/metadata/annotations").path("gpusharing.io/sidecar");
        return Stream.of("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
                .flatMap(list -> pod.path("status").path(list).valueStream())
                .filter(status -> status.path("name").equals(sidecar) == meter)
                .map(status -> status.at("/state/terminated/finishedAt").asText())
                .filter(time -> !time.isEmpty())
                .map(Instant::parse)
                .max(Instant::compareTo)
                .orElse(null);
    }

    /**
     * Containers run together; each ordinary init container runs alone, beside the sidecars before
     * it.
     */
    private static BigDecimal share(JsonNode spec, JsonNode capacity) {
        BigDecimal together =
                spec.path("containers")
                        .valueStream()
                        .map(container -> part(container, capacity, CORE))
                        .reduce(BigDecimal.ZERO, BigDecimal::add);
        BigDecimal memoryTogether =
                spec.path("containers")
                        .valueStream()
                        .map(container -> part(container, capacity, MEMORY))
                        .reduce(BigDecimal.ZERO, BigDecimal::add);
        BigDecimal sidecars = BigDecimal.ZERO;
        BigDecimal memorySidecars = BigDecimal.ZERO;
        BigDecimal steps = BigDecimal.ZERO;
        BigDecimal memorySteps = BigDecimal.ZERO;
        for (JsonNode container : spec.path("initContainers")) {
            BigDecimal core = part(container, capacity, CORE);
            BigDecimal memory = part(container, capacity, MEMORY);
            if (container.path("restartPolicy").asText().equals("Always")) {
                sidecars = sidecars.add(core);
                memorySidecars = memorySidecars.add(memory);
            } else {
                steps = steps.max(sidecars.add(core));
                memorySteps = memorySteps.max(memorySidecars.add(memory));
            }
        }
        BigDecimal compute = together.add(sidecars).max(steps);
        BigDecimal memory = memoryTogether.add(memorySidecars).max(memorySteps);
        return compute.max(memory);
    }

    private static BigDecimal part(JsonNode container, JsonNode capacity, String resource) {
        BigDecimal core = amount(container.at("/resources/limits"), CORE);
        BigDecimal whole = BigDecimal.valueOf(100);
        if (resource.equals(CORE) || core.compareTo(whole) >= 0) {
            return core.multiply(MICRO).divide(whole, 0, RoundingMode.DOWN);
        }
        BigDecimal gpus = amount(capacity, CORE).divide(whole, 0, RoundingMode.DOWN);
        BigDecimal perGpu = amount(capacity, MEMORY).divide(gpus, 0, RoundingMode.DOWN);
        return amount(container.at("/resources/limits"), MEMORY)
                .multiply(MICRO)
                .divide(perGpu, 0, RoundingMode.DOWN);
    }

    private static BigDecimal amount(JsonNode amounts, String resource) {
        String text = amounts.path(resource).asText("0");
        return text.endsWith("k")
                ? new BigDecimal(text.substring(0, text.length() - 1)).scaleByPowerOfTen(3)
                : new BigDecimal(text);
    }

    private static long version(JsonNode object) {
        return object.at("/metadata/resourceVersion").asLong();
    }
}

package io.gpusharing.recount;

import io.gpusharing.recount.AuditLog.Removal;
import io.gpusharing.recount.Bill.Held;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Computes every pod's bill by the rules of docs/accounting: from PodScheduled to the latest {@code
 * finishedAt} of its own containers, or, where it was removed without a terminal phase, to the
 * later of that and its deletion. Requests by {@code tencent.com/vcuda-*} and whole {@code
 * nvidia.com/gpu} are understood; any other way of asking is named, not guessed.
 */
public final class Recount {

    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";
    private static final String WHOLE = "nvidia.com/gpu";
    private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

    private Recount() {}

    /** Bills of all pods that were placed and are ours, by uid. */
    public static Map<String, Bill> of(AuditLog log) {
        var bills = new LinkedHashMap<String, Bill>();
        log.pods()
                .forEach((uid, pod) -> {
                    Bill bill = bill(pod, log);
                    if (bill != null) {
                        bills.put(uid, bill);
                    }
                });
        return bills;
    }

    private static @Nullable Bill bill(JsonNode pod, AuditLog log) {
        Instant from = log.begin(pod.at("/metadata/uid").asString(""));
        JsonNode spec = pod.path("spec");
        boolean vcuda = asks(spec, CORE) || asks(spec, MEMORY);
        boolean metered =
                pod.at("/metadata/labels")
                        .path("gpusharing.io/metered")
                        .asString("")
                        .equals("true");
        if (from == null || (!vcuda && !metered)) {
            return null;
        }
        Removal removal = log.removal(pod.at("/metadata/uid").asString(""));
        Instant end = end(pod, removal);
        JsonNode node = log.node(spec.path("nodeName").asString(""));
        String problem = notRecounted(spec, node, vcuda);
        if (node == null || problem != null) {
            return bill(pod, from, end, Held.NOTHING, problem);
        }
        JsonNode capacity = node.at("/status/capacity");
        var held =
                new Held(held(spec, capacity, false), held(spec, capacity, true), oneGpu(capacity));
        return end == null && removal != null && removal.second() == null
                ? bill(
                        pod,
                        from,
                        null,
                        held,
                        "it was evicted between %s and %s"
                                .formatted(removal.asked(), removal.answered()))
                : bill(pod, from, end, held, undated(pod));
    }

    /** Why it is not known what the pod held; null if it is. */
    private static @Nullable String notRecounted(
            JsonNode spec, @Nullable JsonNode node, boolean vcuda) {
        if (node == null) {
            return "its node is not in the log";
        }
        if (!vcuda && !asks(spec, WHOLE)) {
            return "it asks for GPUs in a way that is not recounted";
        }
        String replicas = node.at("/metadata/labels").path(WHOLE + ".replicas").asString("1");
        if (!vcuda && !replicas.equals("1")) {
            return "its node shares GPUs by replicas, which are not recounted";
        }
        if (spec.path("resourceClaims").size() > 0) {
            return "it has resource claims, which are not recounted";
        }
        return vcuda && gpus(node.at("/status/capacity")).signum() == 0
                ? "its node shows no GPUs in the log"
                : null;
    }

    private static Bill bill(
            JsonNode pod, Instant from, @Nullable Instant to, Held held, @Nullable String unknown) {
        return new Bill(
                pod.at("/metadata/uid").asString(""),
                pod.at("/metadata/namespace").asString(""),
                pod.at("/metadata/name").asString(""),
                held,
                from,
                to,
                unknown);
    }

    /** Of a lost node's pods, and of some that their kubelet ended, nobody says when they ended. */
    private static @Nullable String undated(JsonNode pod) {
        return terminal(pod) && (finished(pod) == null || untold(pod))
                ? "nobody saw its containers end"
                : null;
    }

    private static boolean untold(JsonNode pod) {
        for (JsonNode status : own(pod)) {
            JsonNode terminated = status.at("/state/terminated");
            if (terminated.isObject()
                    ? terminated.path("finishedAt").asString("").isEmpty()
                    : status.at("/state/running").isObject()
                            || status.at("/lastState/terminated").isObject()) {
                return true;
            }
        }
        return false;
    }

    private static boolean terminal(JsonNode pod) {
        String phase = pod.at("/status/phase").asString("");
        return phase.equals("Succeeded") || phase.equals("Failed");
    }

    /** The metering sidecar's end counts where no other is known, or where it came much later. */
    private static @Nullable Instant finished(JsonNode pod) {
        Instant own = latest(own(pod));
        Instant all = latest(statuses(pod));
        return own != null && all != null && all.isBefore(own.plusSeconds(60)) ? own : all;
    }

    private static @Nullable Instant latest(List<JsonNode> statuses) {
        Instant latest = null;
        for (JsonNode status : statuses) {
            String time = status.at("/state/terminated/finishedAt").asString("");
            if (!time.isEmpty() && (latest == null || Instant.parse(time).isAfter(latest))) {
                latest = Instant.parse(time);
            }
        }
        return latest;
    }

    private static List<JsonNode> statuses(JsonNode pod) {
        var all = new ArrayList<JsonNode>();
        for (String list :
                new String[] {
                    "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"
                }) {
            pod.path("status").path(list).forEach(all::add);
        }
        return all;
    }

    /** All but the metering sidecar, which asks for no GPU itself. */
    private static List<JsonNode> own(JsonNode pod) {
        JsonNode name = pod.at("/metadata/annotations").path("gpusharing.io/sidecar");
        var own = new ArrayList<>(statuses(pod));
        for (JsonNode container : pod.at("/spec/initContainers")) {
            if (container.path("name").equals(name)
                    && container.path("restartPolicy").asString("").equals("Always")) {
                own.removeIf(status -> status.path("name").equals(name));
            }
        }
        return own;
    }

    private static @Nullable Instant end(JsonNode pod, @Nullable Removal removal) {
        Instant finished = finished(pod);
        if (terminal(pod)) {
            return finished;
        }
        // With no grace left, the deletion is the removal itself.
        String deletion = pod.at("/metadata/deletionTimestamp").asString("");
        if (deletion.isEmpty() || pod.at("/metadata/deletionGracePeriodSeconds").asInt(-1) != 0) {
            return removal == null ? null : later(finished, removal.second());
        }
        return later(finished, Instant.parse(deletion));
    }

    /** The removal, unless a container finished after it; null if the removal's second is. */
    private static @Nullable Instant later(@Nullable Instant finished, @Nullable Instant removed) {
        return removed == null || finished == null || finished.isBefore(removed)
                ? removed
                : finished;
    }

    /**
     * Containers run together; each ordinary init container alone, beside the sidecars before it.
     */
    private static BigDecimal held(JsonNode spec, JsonNode capacity, boolean memory) {
        BigDecimal together = BigDecimal.ZERO;
        for (JsonNode container : spec.path("containers")) {
            together = together.add(part(container, capacity, memory));
        }
        BigDecimal sidecars = BigDecimal.ZERO;
        BigDecimal steps = BigDecimal.ZERO;
        for (JsonNode container : spec.path("initContainers")) {
            BigDecimal part = part(container, capacity, memory);
            if (container.path("restartPolicy").asString("").equals("Always")) {
                sidecars = sidecars.add(part);
            } else {
                steps = steps.max(sidecars.add(part));
            }
        }
        return together.add(sidecars).max(steps);
    }

    private static BigDecimal part(JsonNode container, JsonNode capacity, boolean memory) {
        JsonNode limits = container.at("/resources/limits");
        BigDecimal one = oneGpu(capacity);
        BigDecimal whole = amount(limits, WHOLE).multiply(one);
        BigDecimal core = amount(limits, CORE);
        if (!memory || core.compareTo(HUNDRED) >= 0) {
            return whole.add(core.multiply(one).divide(HUNDRED));
        }
        return reportsMemory(capacity)
                ? whole.add(amount(limits, MEMORY).multiply(gpus(capacity)).multiply(HUNDRED))
                : whole;
    }

    /**
     * In units that divide a GPU's cores as well as the blocks of its memory, so that nothing is
     * rounded; in cores where the node does not say its memory.
     */
    private static BigDecimal oneGpu(JsonNode capacity) {
        return reportsMemory(capacity) ? amount(capacity, MEMORY).multiply(HUNDRED) : HUNDRED;
    }

    private static boolean reportsMemory(JsonNode capacity) {
        BigDecimal gpus = gpus(capacity);
        return gpus.signum() > 0 && amount(capacity, MEMORY).compareTo(gpus) >= 0;
    }

    private static BigDecimal gpus(JsonNode capacity) {
        return amount(capacity, CORE).divide(HUNDRED, 0, RoundingMode.DOWN);
    }

    private static boolean asks(JsonNode spec, String resource) {
        for (String list : new String[] {"containers", "initContainers"}) {
            for (JsonNode container : spec.path(list)) {
                if (amount(container.at("/resources/limits"), resource).signum() > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    private static BigDecimal amount(JsonNode amounts, String resource) {
        String text = amounts.path(resource).asString("0");
        return text.endsWith("k")
                ? new BigDecimal(text.substring(0, text.length() - 1)).scaleByPowerOfTen(3)
                : new BigDecimal(text);
    }
}
